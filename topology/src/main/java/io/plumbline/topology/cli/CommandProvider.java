package io.plumbline.topology.cli;

/**
 * A command that is not part of the service, and that the program has where its jar stands on the class path: found by
 * {@link java.util.ServiceLoader}.
 */
public interface CommandProvider {

    /** Returns an object that picocli's {@code @Command} annotates. */
    Object command();
}
