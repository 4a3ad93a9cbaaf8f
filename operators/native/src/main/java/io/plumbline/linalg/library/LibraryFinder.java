package io.plumbline.linalg.library;

import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import io.plumbline.linalg.kernel.BrainProduct;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Looks for MKL, then for an OpenBLAS that was built with products of bfloat16, where the system looks for libraries,
 * or takes the one that {@value #PROPERTY} names. Both work on the caller's thread alone: rows are shared among cores
 * before.
 *
 * <p>A processor whose kind says, under Linux, that it has no instruction for such products is refused: a library would
 * do without, slower than the vector kernel.
 */
public final class LibraryFinder implements BrainProduct.Finder {

    /** The name or the path of a library. */
    static final String PROPERTY = "plumbline.kernel.library";

    static final String INSTALL =
            "install MKL (pip install mkl) and name it: -D%s=.../lib/libmkl_rt.so.3".formatted(PROPERTY);

    private static final List<String> NAMES = List.of("mkl_rt", "openblas");

    /** The function's name in MKL and in OpenBLAS. */
    private static final List<String> FUNCTIONS = List.of("cblas_gemm_bf16bf16f32", "cblas_sbgemm");

    /** RTLD_LAZY alone: other libraries of the process must not find this one's functions, BLAS among them. */
    private static final int LAZY_AND_LOCAL = 1;

    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

    /** Intel's and AMD's by matrices and by vectors, and ARM's. */
    private static final Set<String> INSTRUCTIONS = Set.of("amx_bf16", "avx512_bf16", "bf16");

    @Override
    public BrainProduct find() {
        String instructions = instructions();
        String wish = System.getProperty(PROPERTY);
        for (String name : wish == null ? NAMES : List.of(wish)) {
            NativeLibrary library = load(name);
            if (library != null && FUNCTIONS.stream().anyMatch(function -> has(library, function))) {
                prepare(library);
                File file = library.getFile();
                return new LibraryProduct(
                        library, "%s of %s%s".formatted(function(library), file == null ? name : file, instructions));
            }
        }
        throw new UnsupportedOperationException("there is no library %s with a product of bfloat16 (%s); %s"
                .formatted(wish == null ? String.join(" or ", NAMES) : wish, String.join(", ", FUNCTIONS), INSTALL));
    }

    /** Returns what the processor says of such products. */
    private static String instructions() {
        if (!Files.isReadable(PROCESSORS)) {
            return "";
        }
        try {
            // By words, for the last one of a line has no space behind it.
            List<String> said = List.of(
                    Files.readString(PROCESSORS, StandardCharsets.ISO_8859_1).split("\\s+"));
            List<String> found =
                    INSTRUCTIONS.stream().filter(said::contains).sorted().toList();
            if (found.isEmpty()) {
                throw new UnsupportedOperationException(
                        "this processor has no instruction for products of bfloat16 (%s); start without it"
                                .formatted(String.join(
                                        ", ", INSTRUCTIONS.stream().sorted().toList())));
            }
            return ", " + String.join(" and ", found);
        } catch (IOException e) {
            return "";
        }
    }

    private static @Nullable NativeLibrary load(String name) {
        FunctionMapper mapper = (library, method) -> function(library);
        try {
            return NativeLibrary.getInstance(
                    name, Map.of(Library.OPTION_FUNCTION_MAPPER, mapper, Library.OPTION_OPEN_FLAGS, LAZY_AND_LOCAL));
        } catch (UnsatisfiedLinkError e) {
            // The next one, or what to install.
            return null;
        }
    }

    /** Returns the name of the function that a library has, or the last one that it could have. */
    private static String function(NativeLibrary library) {
        return FUNCTIONS.stream()
                .filter(function -> has(library, function))
                .findFirst()
                .orElse(FUNCTIONS.get(FUNCTIONS.size() - 1));
    }

    private static boolean has(NativeLibrary library, String function) {
        try {
            return library.getFunction(function) != null;
        } catch (UnsatisfiedLinkError e) {
            return false;
        }
    }

    /** Makes a library work on its caller's thread, whatever the environment says, and MKL take sizes of 32 bits. */
    private static void prepare(NativeLibrary library) {
        set(library, "MKL_Set_Interface_Layer", 0);
        set(library, "MKL_Set_Threading_Layer", 1);
        set(library, "openblas_set_num_threads", 1);
    }

    private static void set(NativeLibrary library, String function, int value) {
        if (has(library, function)) {
            library.getFunction(function).invokeVoid(new Object[] {value});
        }
    }
}
