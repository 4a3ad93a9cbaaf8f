package io.plumbline.topology.console;

/** Builds the text of a page; whatever comes from data goes through {@link #text}. */
final class Markup {

    private final StringBuilder page = new StringBuilder();

    /** Adds markup of our own. */
    Markup raw(String markup) {
        page.append(markup);
        return this;
    }

    /** Adds text that stands in the page as it is read, in an attribute too. */
    Markup text(Object value) {
        page.append(escaped(String.valueOf(value)));
        return this;
    }

    /** Adds {@code <tag>value</tag>}. */
    Markup element(String tag, Object value) {
        return raw("<" + tag + ">").text(value).raw("</" + tag.replaceFirst(" .*", "") + ">");
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }

    @Override
    public String toString() {
        return page.toString();
    }
}
