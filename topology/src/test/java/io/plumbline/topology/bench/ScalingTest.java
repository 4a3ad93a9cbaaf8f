package io.plumbline.topology.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.bench.Curve.Point;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

class ScalingTest {

    @TempDir
    private Path folder;

    @Test
    void everySizeOfTheKernelsHasACurve() {
        Findings findings = new Findings(what -> {});
        new Scaling(new BenchPlan(Set.of(BenchPlan.Part.SCALING), false, false, true, List.of(64), 1, 1), findings)
                .kernels();
        assertEquals(
                List.of("d", "k", "N", "r"),
                findings.curves.stream().map(Curve::variable).toList());
        for (Curve curve : findings.curves) {
            assertTrue(Double.isFinite(curve.exponent()), curve.toString());
            assertTrue(curve.points().stream().allMatch(p -> p.y() > 0.0), curve.toString());
        }
    }

    @Test
    void pictureHasEveryPointInItsPanel() throws Exception {
        Curve one = Curve.through("a < b", "d", "us", List.of(new Point(8, 1), new Point(16, 4), new Point(32, 16)));
        Curve flat = Curve.through("level", "r", "us", List.of(new Point(8, 3), new Point(16, 3)));
        Path file = folder.resolve("scaling.svg");
        ScalingPlot.write(file, List.of(one, flat), "machine & date");
        assertFalse(Files.readString(file).contains("NaN"));
        Document svg = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(file.toFile());
        assertEquals(5, svg.getElementsByTagName("circle").getLength());
        double lastX = 0.0;
        for (int i = 0; i < 3; i++) {
            var circle = svg.getElementsByTagName("circle").item(i).getAttributes();
            double x = Double.parseDouble(circle.getNamedItem("cx").getNodeValue());
            double y = Double.parseDouble(circle.getNamedItem("cy").getNodeValue());
            assertTrue(x > lastX && x < 300 && y > 0 && y < 220, x + ", " + y);
            lastX = x;
        }
        assertTrue(svg.getDocumentElement().getTextContent().contains("~ d^2.00"));
    }
}
