package io.plumbline.benchmarks;

import io.plumbline.topology.cli.CommandProvider;

/** Adds {@code plumbline bench} to the program. */
public final class BenchCommandProvider implements CommandProvider {

    @Override
    public Object command() {
        return new BenchCommand();
    }
}
