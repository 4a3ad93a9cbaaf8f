package io.plumbline.topology.console;

import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.ExternalProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Level;
import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptException;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/**
 * A headless Chromium with a profile of its own; nothing is downloaded and nothing is shared with a person's browser.
 */
public final class Browser implements AutoCloseable {

    private static final List<String> FLAGS = List.of(
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1400,1000");

    private static final long PATIENCE_SECONDS = 90;

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    public static Browser start(Path folder) throws IOException {
        Path chromium = ExternalProgram.require("chromium", "chromium");
        Path chromedriver = ExternalProgram.require("chromedriver", "chromium-driver");
        ChromeOptions options = new ChromeOptions();
        options.setBinary(chromium.toString());
        options.addArguments(FLAGS);
        options.addArguments("--user-data-dir=" + Files.createTempDirectory(folder, "profile"));
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        options.setCapability("goog:loggingPrefs", logs);
        return new Browser(new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(chromedriver.toFile())
                        .build(),
                options));
    }

    public ChromeDriver driver() {
        return driver;
    }

    public void open(String address) {
        driver.get("about:blank");
        driver.get(address);
    }

    /** Returns the text of the first element, empty where there is none now. */
    public String text(String selector) {
        try {
            List<WebElement> found = driver.findElements(By.cssSelector(selector));
            return found.isEmpty() ? "" : found.get(0).getText();
        } catch (StaleElementReferenceException replaced) {
            return "";
        }
    }

    /** Waits until a text is seen once, which is enough: an element may be replaced the moment after. */
    public void awaitText(String selector, String expected) throws InterruptedException {
        AtomicBoolean seen = new AtomicBoolean();
        BrokerClient.awaitThat(
                () -> seen.get() || (text(selector).contains(expected) && seen.compareAndSet(false, true)),
                PATIENCE_SECONDS,
                () -> "\"%s\" in %s: \"%s\"%n%s".formatted(expected, selector, text(selector), text("body")));
    }

    public Object run(String script, Object... arguments) {
        try {
            return Objects.requireNonNullElse(driver.executeScript(script, arguments), "");
        } catch (JavascriptException e) {
            throw new AssertionError(script, e);
        }
    }

    /** Sets width and height as a phone's or a desk's. */
    public void size(int width, int height) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 600));
    }

    public byte[] picture() {
        return driver.getScreenshotAs(OutputType.BYTES);
    }

    /** Returns what the browser complained of since it was last asked. */
    public List<String> complaints() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(LogEntry::toString)
                .toList();
    }

    @Override
    public void close() {
        driver.quit();
    }
}
