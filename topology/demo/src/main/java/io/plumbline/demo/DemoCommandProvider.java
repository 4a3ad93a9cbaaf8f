package io.plumbline.demo;

import io.plumbline.topology.cli.CommandProvider;

/** Adds {@code plumbline demo} to the program. */
public final class DemoCommandProvider implements CommandProvider {

    @Override
    public Object command() {
        return new DemoCommand();
    }
}
