package io.plumbline.topology.fuzz;

/** The language that one part of an input is written in: it decides how the part is mutated. */
public enum Part {
    /** A binary layout. */
    BYTES,
    /** JSON in UTF-8. */
    JSON,
    /** YAML in UTF-8. */
    YAML,
    /** A length, a JSON header of that length, and the tensors. */
    SAFETENSORS
}
