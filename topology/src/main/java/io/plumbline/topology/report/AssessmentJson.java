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
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Value;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes an assessment as flat JSON: a key for every {@link Statistic} in its order, null where it is undefined, and
 * the reasons under {@code undefined}. The two that are no real number stand where those are that they belong to.
 */
final class AssessmentJson {

    private static final String VACUOUS = "vacuous";
    private static final String UNDEFINED = "undefined";

    private AssessmentJson() {}

    static SimpleModule module() {
        return new SimpleModule()
                .addSerializer(GapAssessment.class, new Writer(false))
                .addDeserializer(GapAssessment.class, new Reader());
    }

    private static final class Writer extends StdSerializer<GapAssessment> {

        private static final long serialVersionUID = 1L;

        private final boolean unwrapped;

        private Writer(boolean unwrapped) {
            super(GapAssessment.class);
            this.unwrapped = unwrapped;
        }

        @Override
        public JsonSerializer<GapAssessment> unwrappingSerializer(NameTransformer names) {
            return new Writer(true);
        }

        @Override
        public boolean isUnwrappingSerializer() {
            return unwrapped;
        }

        @Override
        public void serialize(GapAssessment window, JsonGenerator json, SerializerProvider provider)
                throws IOException {
            if (!unwrapped) {
                json.writeStartObject(window);
            }
            json.writeNumberField("rows", window.rows());
            json.writeNumberField("dimension", window.dimension());
            json.writeNumberField("rank", window.rank());
            for (Statistic statistic : Statistic.values()) {
                provider.defaultSerializeField(
                        statistic.label(), window.value(statistic).orElse(Double.NaN), json);
                if (statistic == Statistic.DAVIS_KAHAN_AS_PRINTED) {
                    provider.defaultSerializeField(
                            GapAssessment.DAVIS_KAHAN_CERTIFIED, window.davisKahanCertified(), json);
                }
                if (statistic == Statistic.TOP_EIGENVALUE_SHARE) {
                    provider.defaultSerializeField(GapAssessment.PRINCIPAL_ANGLES, window.principalAngles(), json);
                }
            }
            provider.defaultSerializeField(VACUOUS, window.vacuous(), json);
            provider.defaultSerializeField(UNDEFINED, window.undefined(), json);
            if (!unwrapped) {
                json.writeEndObject();
            }
        }
    }

    private static final class Reader extends StdDeserializer<GapAssessment> {

        private static final long serialVersionUID = 1L;

        private Reader() {
            super(GapAssessment.class);
        }

        /** Returns a separate reader: Jackson ignores {@code @JsonUnwrapped} if it gets the same one. */
        @Override
        public JsonDeserializer<GapAssessment> unwrappingDeserializer(NameTransformer names) {
            return new Reader();
        }

        @Override
        public GapAssessment deserialize(JsonParser json, DeserializationContext context) throws IOException {
            JsonNode window = context.readTree(json);
            Map<Statistic, Value> values = new EnumMap<>(Statistic.class);
            for (Statistic statistic : Statistic.values()) {
                JsonNode number = window.path(statistic.label());
                JsonNode reason = window.path(UNDEFINED).path(statistic.label());
                if (number.isNumber()) {
                    values.put(statistic, new Value.Known(number.asDouble()));
                } else if (reason.isTextual()) {
                    values.put(statistic, new Value.Undefined(reason.asText()));
                }
            }
            JsonNode certified = window.path(GapAssessment.DAVIS_KAHAN_CERTIFIED);
            return new GapAssessment(
                    window.path("rows").asLong(),
                    window.path("dimension").asInt(),
                    window.path("rank").asInt(),
                    values,
                    certified.isBoolean() ? certified.asBoolean() : null,
                    angles(window.path(GapAssessment.PRINCIPAL_ANGLES)));
        }

        private static @Nullable List<Double> angles(JsonNode ascending) {
            if (!ascending.isArray()) {
                return null;
            }
            List<Double> angles = new ArrayList<>();
            ascending.forEach(angle -> angles.add(angle.asDouble()));
            return angles;
        }
    }
}
