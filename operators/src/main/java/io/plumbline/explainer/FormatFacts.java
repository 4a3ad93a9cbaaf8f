package io.plumbline.explainer;

/**
 * One line of the table of formats.
 *
 * @param name of the format
 * @param files it is recognised by
 * @param writtenBy the library, or who publishes it
 * @param kinds that are read
 * @param adaptedAs what an adapted decoder is written as
 * @param options that it may need
 * @param refused what is refused, and what to do instead
 */
public record FormatFacts(
        String name, String files, String writtenBy, String kinds, String adaptedAs, String options, String refused) {

    public String description() {
        return "%s (%s)".formatted(name, files);
    }
}
