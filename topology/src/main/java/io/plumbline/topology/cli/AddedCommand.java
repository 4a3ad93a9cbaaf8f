package io.plumbline.topology.cli;

import java.util.concurrent.Callable;

/**
 * A command that is not part of the service, and that the program has where its jar stands on the class path: found by
 * {@link java.util.ServiceLoader}, annotated by picocli's {@code @Command}.
 */
public interface AddedCommand extends Callable<Integer> {}
