package io.plumbline.topology.cli;

import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.ReadConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline config}: prints a file to start from, or what a file comes to. */
@Command(
        name = "config",
        mixinStandardHelpOptions = true,
        description =
                "Prints a commented configuration file with every default, or what a file comes to: defaults filled in,"
                        + " secrets"
                        + " hidden.",
        footer = {
            "  plumbline config --print-default > plumbline.yaml",
            "  plumbline check --config plumbline.yaml --offline",
            "  plumbline config --print --config plumbline.yaml"
        })
public final class ConfigCommand implements Callable<Integer> {

    /** The options; exactly one of them is given. */
    static final class What {
        @Option(names = "--print-default", description = "Print the file to start from.")
        boolean printDefault;

        @Option(names = "--print", description = "Print what the file of --config comes to.")
        boolean print;
    }

    @ArgGroup(multiplicity = "1")
    What what;

    @Option(names = "--config", paramLabel = "FILE", description = "The configuration file.")
    @Nullable
    Path config;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        spec.commandLine().getOut().print(what.print ? effective() : MonitorConfig.defaultFile());
        spec.commandLine().getOut().flush();
        return ExitCodes.FINE;
    }

    private String effective() throws IOException {
        if (config == null) {
            throw new UsageException("--print needs --config FILE: whose configuration?");
        }
        return ReadConfig.of(config).yaml();
    }
}
