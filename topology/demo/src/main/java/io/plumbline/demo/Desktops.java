package io.plumbline.demo;

import java.awt.Desktop;
import java.awt.GraphicsEnvironment;
import java.io.IOException;
import java.net.URI;

/** Opens the browser of the person who typed the command, where there is one. */
final class Desktops {

    private Desktops() {}

    /**
     * Opens a page where a person sits at a terminal of a desktop; elsewhere, and where that fails, nothing happens.
     */
    static void open(URI page) {
        if (!Boolean.getBoolean("plumbline.terminal")
                || GraphicsEnvironment.isHeadless()
                || !Desktop.isDesktopSupported()
                || !Desktop.getDesktop().isSupported(Desktop.Action.BROWSE)) {
            return;
        }
        try {
            Desktop.getDesktop().browse(page);
        } catch (IOException | UnsupportedOperationException noBrowser) {
            // The address was printed.
        }
    }
}
