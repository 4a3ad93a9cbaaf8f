package io.plumbline.topology.console;

/** Text of a page under way; whatever comes from data goes through {@link #text}. */
final class Markup {

    private final StringBuilder page = new StringBuilder();

    /** Markup of our own. */
    Markup raw(String markup) {
        page.append(markup);
        return this;
    }

    /** Anything else: it stands in the page as it is read, in an attribute too. */
    Markup text(Object value) {
        page.append(escaped(String.valueOf(value)));
        return this;
    }

    /** {@code <tag>value</tag>}. */
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
