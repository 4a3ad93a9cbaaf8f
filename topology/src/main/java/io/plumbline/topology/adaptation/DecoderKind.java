package io.plumbline.topology.adaptation;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** The kinds of published decoders. */
public enum DecoderKind {
    /** A decoder made from the trained one. */
    ADAPTED,
    /** The trained decoder, returned. */
    TRAINED,
    /** A decoder that waits for approval: never in service as it stands. */
    CANDIDATE;

    /** Returns the word that manifests, metrics and commands have for it. */
    @JsonValue
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Reads a word; what it is instead is not repeated, since manifests come from outside. */
    @JsonCreator
    static DecoderKind of(String label) {
        for (DecoderKind kind : values()) {
            if (kind.label().equals(label)) {
                return kind;
            }
        }
        throw new IllegalArgumentException("its kind is not known: expected adapted, trained or candidate");
    }

    @Override
    public String toString() {
        return label();
    }
}
