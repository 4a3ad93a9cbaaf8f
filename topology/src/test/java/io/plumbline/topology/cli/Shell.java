package io.plumbline.topology.cli;

import io.plumbline.topology.operate.Plumbline;
import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** Runs one command in this process and keeps what it printed. */
public record Shell(int exitCode, String out, String err) {

    public static Shell run(Object... arguments) {
        return run(new StringWriter(), arguments);
    }

    /** @param err takes what is printed on the error stream, while it is printed */
    public static Shell run(StringWriter err, Object... arguments) {
        StringWriter out = new StringWriter();
        CommandLine commandLine = Plumbline.commandLine();
        commandLine.setOut(new PrintWriter(out));
        commandLine.setErr(new PrintWriter(err));
        String[] words = new String[arguments.length];
        for (int i = 0; i < words.length; i++) {
            words[i] = arguments[i].toString();
        }
        int exitCode = commandLine.execute(words);
        commandLine.getOut().flush();
        commandLine.getErr().flush();
        return new Shell(exitCode, out.toString(), err.toString());
    }
}
