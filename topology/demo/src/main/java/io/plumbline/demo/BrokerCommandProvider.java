package io.plumbline.demo;

import io.plumbline.topology.cli.CommandProvider;

/** Adds {@code plumbline broker} to the program. */
public final class BrokerCommandProvider implements CommandProvider {

    @Override
    public Object command() {
        return new BrokerCommand();
    }
}
