package io.plumbline.topology.report;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import com.fasterxml.jackson.databind.util.NameTransformer;
import java.io.IOException;

/** Writes the sections of a report flat: a key for every kind, null where the window does not have it. */
final class SectionsJson {

    private SectionsJson() {}

    static SimpleModule addTo(SimpleModule module) {
        return module.addSerializer(Sections.class, new Writer()).addDeserializer(Sections.class, new Reader());
    }

    private static final class Writer extends StdSerializer<Sections> {

        private static final long serialVersionUID = 1L;

        private Writer() {
            super(Sections.class);
        }

        @Override
        public JsonSerializer<Sections> unwrappingSerializer(NameTransformer names) {
            return this;
        }

        @Override
        public boolean isUnwrappingSerializer() {
            return true;
        }

        @Override
        public void serialize(Sections sections, JsonGenerator json, SerializerProvider provider) throws IOException {
            for (SectionKind<?> kind : Sections.ALL) {
                provider.defaultSerializeField(kind.key(), sections.get(kind), json);
            }
        }
    }

    private static final class Reader extends StdDeserializer<Sections> {

        private static final long serialVersionUID = 1L;

        private Reader() {
            super(Sections.class);
        }

        @Override
        public JsonDeserializer<Sections> unwrappingDeserializer(NameTransformer names) {
            return new Reader();
        }

        @Override
        public Sections deserialize(JsonParser json, DeserializationContext context) throws IOException {
            JsonNode report = context.readTree(json);
            Sections sections = Sections.NONE;
            for (SectionKind<?> kind : Sections.ALL) {
                sections = read(kind, report.path(kind.key()), sections, context);
            }
            return sections;
        }

        private static <V> Sections read(
                SectionKind<V> kind, JsonNode value, Sections sections, DeserializationContext context)
                throws IOException {
            if (value.isMissingNode() || value.isNull()) {
                return sections;
            }
            V read = context.readTreeAsValue(
                    value, context.constructType(kind.type().getType()));
            return sections.with(kind, read);
        }
    }
}
