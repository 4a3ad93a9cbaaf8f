package io.plumbline.causal.commands;

import io.plumbline.topology.cli.CommandProvider;

/** Adds {@code plumbline evaluate} to the program. */
public final class EvaluateCommandProvider implements CommandProvider {

    @Override
    public Object command() {
        return new EvaluateCommand();
    }
}
