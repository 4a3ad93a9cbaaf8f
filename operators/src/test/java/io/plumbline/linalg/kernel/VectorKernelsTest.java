package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests what the compiler of the JVM needs in order to keep vectors in registers, whatever else the process does: see
 * {@link VectorTiles}.
 */
class VectorKernelsTest {

    private static final String VECTORS = "jdk.incubator.vector.";

    @Test
    void vectorsOfOneLengthAreUsedThroughout() throws Exception {
        assumeTrue(UpdateKernelsTest.moduleIsThere());
        Set<String> shapes = new TreeSet<>();
        for (Class<?> kernel : kernelClasses()) {
            for (Field field : kernel.getDeclaredFields()) {
                if (field.getType().getName().equals(VECTORS + "VectorSpecies")) {
                    field.setAccessible(true);
                    String species = String.valueOf(field.get(null));
                    shapes.add(species.replaceAll(".*(S_\\w+_BIT).*", "$1"));
                }
            }
        }
        assertEquals(1, shapes.size(), shapes::toString);
        assertTrue(shapes.iterator().next().startsWith("S_"), shapes::toString);
    }

    @Test
    void noVectorIsHandedToAMethodOfOursOrReturnedByOne() throws Exception {
        assumeTrue(UpdateKernelsTest.moduleIsThere());
        for (Class<?> kernel : kernelClasses()) {
            for (Method method : kernel.getDeclaredMethods()) {
                assertFalse(isVector(method.getReturnType()), method::toString);
                for (Class<?> parameter : method.getParameterTypes()) {
                    assertFalse(isVector(parameter), method::toString);
                }
            }
        }
    }

    private static boolean isVector(Class<?> type) {
        return type.getName().startsWith(VECTORS);
    }

    private static List<Class<?>> kernelClasses() throws IOException, URISyntaxException, ClassNotFoundException {
        URI classes = VectorKernel.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI();
        Path folder = Path.of(classes).resolve("io/plumbline/linalg/kernel");
        List<Class<?>> found = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString();
                if (name.startsWith("Vector") && name.endsWith(".class") && !name.contains("Test")) {
                    found.add(Class.forName("io.plumbline.linalg.kernel." + name.substring(0, name.length() - 6)));
                }
            }
        }
        assertTrue(found.size() > 5, found::toString);
        return found;
    }
}
