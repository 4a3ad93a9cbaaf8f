package io.plumbline.topology.cli;

import io.plumbline.topology.MonitorConfig;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code plumbline config}: a file to start from. */
@Command(
        name = "config",
        mixinStandardHelpOptions = true,
        description = {"Prints a commented configuration file with every default.", ""},
        footer = {
            "",
            "Example:",
            "  plumbline config --print-default > plumbline.yaml",
            "  plumbline check --config plumbline.yaml --offline"
        })
final class ConfigCommand implements Callable<Integer> {

    @Option(names = "--print-default", required = true, description = "Print the file to standard output.")
    boolean printDefault;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() {
        spec.commandLine().getOut().print(MonitorConfig.defaultFile());
        spec.commandLine().getOut().flush();
        return ExitCodes.FINE;
    }
}
