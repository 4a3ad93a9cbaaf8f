package io.plumbline.benchmarks.study;

import io.plumbline.topology.cli.CommandProvider;

/** Adds {@code plumbline study} to the program. */
public final class StudyCommandProvider implements CommandProvider {

    @Override
    public Object command() {
        return new StudyCommand();
    }
}
