package io.plumbline.causal.commands;

import io.plumbline.topology.cli.CommandProvider;

/** Adds {@code plumbline causal} to the program. */
public final class CausalCommandProvider implements CommandProvider {

    @Override
    public Object command() {
        return new CausalCommand();
    }
}
