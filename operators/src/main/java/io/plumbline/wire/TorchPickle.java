package io.plumbline.wire;

import io.plumbline.wire.TensorFileException.Fault;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Interprets the few pickle opcodes that a dict of tensors needs; nothing is executed. Every other opcode, and every
 * global but those of {@link #GLOBALS}, is refused by its name.
 *
 * <p>Values are {@link String}, {@link Long}, {@link Double}, {@link Boolean}, {@link Nothing}, tuples and lists as
 * {@link List}, dicts as {@link Dict}, and {@link Stored} tensors. Memory is in proportion to the bytes of the pickle,
 * at most {@value #LARGEST}.
 */
final class TorchPickle {

    static final int LARGEST = 1 << 20;

    /** Python's None. */
    enum Nothing {
        NONE
    }

    /** A dict. */
    static final class Dict {
        private final Map<Object, Object> values = new LinkedHashMap<>();

        Map<Object, Object> values() {
            return values;
        }
    }

    /** A storage: bytes of an entry of the archive. */
    record Storage(@Nullable DType dtype, String key, long elements) {}

    /** A tensor: a part of a storage. */
    record Stored(Storage storage, long offset, List<Long> shape, List<Long> steps) {}

    /** The functions and classes that a pickle may name. */
    private enum Global {
        ORDERED_DICT,
        TENSOR,
        PARAMETER,
        F64,
        F32,
        F16,
        BF16,
        I64,
        I32,
        OTHER_STORAGE
    }

    private static final Map<String, Global> GLOBALS = Map.ofEntries(
            Map.entry("collections OrderedDict", Global.ORDERED_DICT),
            Map.entry("torch._utils _rebuild_tensor_v2", Global.TENSOR),
            Map.entry("torch._utils _rebuild_parameter", Global.PARAMETER),
            Map.entry("torch DoubleStorage", Global.F64),
            Map.entry("torch FloatStorage", Global.F32),
            Map.entry("torch HalfStorage", Global.F16),
            Map.entry("torch BFloat16Storage", Global.BF16),
            Map.entry("torch LongStorage", Global.I64),
            Map.entry("torch IntStorage", Global.I32),
            Map.entry("torch ShortStorage", Global.OTHER_STORAGE),
            Map.entry("torch CharStorage", Global.OTHER_STORAGE),
            Map.entry("torch ByteStorage", Global.OTHER_STORAGE),
            Map.entry("torch BoolStorage", Global.OTHER_STORAGE));

    private static final int NEWEST_PROTOCOL = 5;

    private final PickleBytes bytes;
    private final List<Object> stack = new ArrayList<>();
    private final Deque<Integer> marks = new ArrayDeque<>();
    private final Map<Long, Object> memo = new HashMap<>();

    private TorchPickle(ByteBuffer bytes) {
        this.bytes = new PickleBytes(bytes);
    }

    /**
     * Reads a dict.
     *
     * @throws TensorFileException where it is none, or names what a dict of tensors does not need
     */
    static Dict read(ByteBuffer pickle) {
        if (pickle.remaining() > LARGEST) {
            throw new TensorFileException(
                    Fault.TOO_LARGE,
                    "a pickle of %d bytes: expected at most %d for a dict of tensors"
                            .formatted(pickle.remaining(), LARGEST));
        }
        TorchPickle reader = new TorchPickle(pickle);
        Object value = reader.run();
        if (!(value instanceof Dict dict)) {
            throw reader.bytes.bad("the pickle holds %s: expected a dict of tensors".formatted(kind(value)));
        }
        return dict;
    }

    private Object run() {
        while (true) {
            int opcode = bytes.unsignedByte();
            if (opcode == '.') {
                return pop();
            }
            interpret(opcode);
        }
    }

    private void interpret(int opcode) {
        switch (opcode) {
            case 0x80 -> requireProtocol(bytes.unsignedByte());
            case 0x95 -> bytes.skip(Long.BYTES);
            case '}' -> stack.add(new Dict());
            case ']' -> stack.add(new ArrayList<>());
            case ')' -> stack.add(List.of());
            case '(' -> marks.push(stack.size());
            case 'q' -> memo.put((long) bytes.unsignedByte(), top());
            case 'r' -> memo.put(bytes.unsignedInt(), top());
            case 0x94 -> memo.put((long) memo.size(), top());
            case 'h' -> stack.add(remembered(bytes.unsignedByte()));
            case 'j' -> stack.add(remembered(bytes.unsignedInt()));
            case 'X' -> stack.add(bytes.text(bytes.unsignedInt()));
            case 0x8c -> stack.add(bytes.text(bytes.unsignedByte()));
            case 0x8d -> stack.add(bytes.text(bytes.fixed(Long.BYTES).getLong()));
            case 'c' -> stack.add(global(bytes.line() + " " + bytes.line()));
            case 0x93 -> stack.add(globalOnStack());
            case 'Q' -> stack.add(storage(pop()));
            case 'J' -> stack.add((long) bytes.fixed(Integer.BYTES).getInt());
            case 'K' -> stack.add((long) bytes.unsignedByte());
            case 'M' -> stack.add((long) (bytes.fixed(Short.BYTES).getShort() & 0xFFFF));
            case 0x8a -> stack.add(bytes.integer());
            case 'G' ->
                stack.add(bytes.fixed(Double.BYTES).order(ByteOrder.BIG_ENDIAN).getDouble());
            case 0x88 -> stack.add(true);
            case 0x89 -> stack.add(false);
            case 'N' -> stack.add(Nothing.NONE);
            case 't' -> stack.add(Collections.unmodifiableList(sinceMark()));
            case 0x85, 0x86, 0x87 -> stack.add(Collections.unmodifiableList(last(opcode - 0x84)));
            case 'R' -> reduce();
            case 'b' -> build();
            case 's' -> set(last(2));
            case 'u' -> set(sinceMark());
            case 'a' -> append(last(1));
            case 'e' -> append(sinceMark());
            default ->
                throw new TensorFileException(
                        Fault.FOREIGN_OPCODE,
                        ("the pickle has the opcode %s at byte %d, which a dict of tensors does not need; "
                                        + "nothing was executed. Save the weights as safetensors, "
                                        + "or as a dict of tensors (torch.save(model.state_dict(), ...))")
                                .formatted(opcodeName(opcode), bytes.position() - 1));
        }
    }

    private void requireProtocol(int protocol) {
        if (protocol > NEWEST_PROTOCOL) {
            throw bytes.bad("pickle protocol %d: expected at most %d".formatted(protocol, NEWEST_PROTOCOL));
        }
    }

    private Global globalOnStack() {
        Object name = pop();
        return global(pop() + " " + name);
    }

    private static Global global(String name) {
        Global known = GLOBALS.get(name);
        if (known == null) {
            throw new TensorFileException(
                    Fault.FOREIGN_GLOBAL,
                    ("the pickle names %s, which a dict of tensors does not need; nothing was executed. "
                                    + "Save the weights as safetensors, "
                                    + "or as a dict of tensors (torch.save(model.state_dict(), ...))")
                            .formatted(printable(name.replace(' ', '.'))));
        }
        return known;
    }

    private void reduce() {
        Object arguments = pop();
        Object callable = pop();
        if (!(callable instanceof Global global) || !(arguments instanceof List<?> given)) {
            throw bytes.bad("a call of %s".formatted(kind(callable)));
        }
        stack.add(
                switch (global) {
                    case ORDERED_DICT -> {
                        if (!given.isEmpty()) {
                            throw bytes.bad("an OrderedDict with arguments");
                        }
                        yield new Dict();
                    }
                    case TENSOR -> tensor(given);
                    case PARAMETER -> {
                        if (given.isEmpty() || !(given.get(0) instanceof Stored parameter)) {
                            throw bytes.bad("a parameter that is no tensor");
                        }
                        yield parameter;
                    }
                    default -> throw bytes.bad("a call of a storage");
                });
    }

    private Stored tensor(List<?> given) {
        if (given.size() < 4
                || !(given.get(0) instanceof Storage storage)
                || !(given.get(1) instanceof Long offset)
                || !(given.get(2) instanceof List<?> shape)
                || !(given.get(3) instanceof List<?> steps)) {
            throw bytes.bad("a tensor without storage, offset, size and stride");
        }
        return new Stored(storage, offset, numbers(shape), numbers(steps));
    }

    private List<Long> numbers(List<?> values) {
        List<Long> numbers = new ArrayList<>();
        for (Object value : values) {
            if (!(value instanceof Long number) || numbers.size() == 8) {
                throw bytes.bad("a size or stride of a tensor that is no number, or more than 8 dimensions");
            }
            numbers.add(number);
        }
        return List.copyOf(numbers);
    }

    private Storage storage(Object id) {
        if (id instanceof List<?> parts
                && parts.size() >= 5
                && "storage".equals(parts.get(0))
                && parts.get(1) instanceof Global type
                && parts.get(2) instanceof String key
                && parts.get(4) instanceof Long elements) {
            DType dtype =
                    switch (type) {
                        case F64 -> DType.F64;
                        case F32 -> DType.F32;
                        case F16 -> DType.F16;
                        case BF16 -> DType.BF16;
                        case I64 -> DType.I64;
                        case I32 -> DType.I32;
                        case OTHER_STORAGE -> null;
                        default -> throw bytes.bad("a storage of no type");
                    };
            return new Storage(dtype, key, elements);
        }
        throw bytes.bad("a reference outside the pickle that is no storage");
    }

    /** Takes the state of an object: for an OrderedDict its {@code _metadata}, which is none of ours. */
    private void build() {
        Object state = pop();
        if (!(top() instanceof Dict) || !(state instanceof Dict)) {
            throw bytes.bad("a state for %s".formatted(kind(top())));
        }
    }

    private void set(List<Object> pairs) {
        if (!(top() instanceof Dict dict) || pairs.size() % 2 != 0) {
            throw bytes.bad("entries for %s".formatted(kind(top())));
        }
        for (int i = 0; i < pairs.size(); i += 2) {
            if (!(pairs.get(i) instanceof String) && !(pairs.get(i) instanceof Long)) {
                throw bytes.bad("a key that is %s: expected a string or a number".formatted(kind(pairs.get(i))));
            }
            if (dict.values().put(pairs.get(i), pairs.get(i + 1)) != null) {
                throw bytes.bad("the key %s twice".formatted(printable(String.valueOf(pairs.get(i)))));
            }
        }
    }

    @SuppressWarnings("unchecked")
    private void append(List<Object> values) {
        // Tuples are lists too, but unmodifiable ones.
        if (!(top() instanceof ArrayList<?> list)) {
            throw bytes.bad("values for %s".formatted(kind(top())));
        }
        ((List<Object>) list).addAll(values);
    }

    private List<Object> sinceMark() {
        Integer mark = marks.poll();
        if (mark == null || mark > stack.size()) {
            throw bytes.bad("no mark");
        }
        return last(stack.size() - mark);
    }

    private List<Object> last(int count) {
        if (count > stack.size() || (!marks.isEmpty() && stack.size() - count < marks.element())) {
            throw bytes.bad("too few values");
        }
        List<Object> part = stack.subList(stack.size() - count, stack.size());
        List<Object> copy = new ArrayList<>(part);
        part.clear();
        return copy;
    }

    private Object pop() {
        return last(1).get(0);
    }

    private Object top() {
        if (stack.isEmpty()) {
            throw bytes.bad("too few values");
        }
        return stack.get(stack.size() - 1);
    }

    private Object remembered(long index) {
        Object value = memo.get(index);
        if (value == null) {
            throw bytes.bad("nothing was remembered as %d".formatted(index));
        }
        return value;
    }

    private static String kind(Object value) {
        return value instanceof Stored ? "a tensor" : "a " + value.getClass().getSimpleName();
    }

    /** Makes a name from the file printable: what it holds must not move a terminal's cursor. */
    private static String printable(String name) {
        String shown = name.replaceAll("[^\\x20-\\x7e]", "?");
        return shown.length() > 100 ? shown.substring(0, 100) + "..." : shown;
    }

    private static String opcodeName(int opcode) {
        String name =
                switch (opcode) {
                    case 'i' -> "INST ";
                    case 'o' -> "OBJ ";
                    case 0x81 -> "NEWOBJ ";
                    case 0x92 -> "NEWOBJ_EX ";
                    case 'P' -> "PERSID ";
                    case 0x82, 0x83, 0x84 -> "EXT ";
                    case 'B', 'C', 0x8e, 0x96 -> "BYTES ";
                    case 'U', 'T', 'S' -> "STRING ";
                    case 'I', 'L', 0x8b -> "INT ";
                    case 'd' -> "DICT ";
                    case 'l' -> "LIST ";
                    case '0' -> "POP ";
                    case '1' -> "POP_MARK ";
                    case '2' -> "DUP ";
                    case 0x8f, 0x90, 0x91 -> "SET ";
                    default -> "";
                };
        return "%s(0x%02x)".formatted(name, opcode);
    }
}
