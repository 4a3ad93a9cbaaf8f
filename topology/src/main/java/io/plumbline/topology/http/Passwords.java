package io.plumbline.topology.http;

import at.favre.lib.crypto.bcrypt.BCrypt;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Checks the {@code Authorization} header of basic authentication.
 *
 * <p>bcrypt takes tens of milliseconds on purpose, so a password that was right is remembered by a keyed hash whose key
 * lives as long as the process: a scrape every few seconds costs microseconds. Wrong ones are never remembered, at most
 * two are looked at at a time, and a name that does not exist takes as long as one that does. All comparisons take the
 * same time wherever the difference is. Thread-safe.
 */
final class Passwords {

    enum Verdict {
        RIGHT,
        WRONG,
        /** Too many checks are under way: answer 429. */
        BUSY
    }

    private static final Pattern HASH = Pattern.compile("\\$2[aby]\\$(\\d\\d)\\$[./A-Za-z0-9]{53}");
    private static final int LEAST_COST = 4;
    private static final int LARGEST_COST = 14;
    private static final String SCHEME = "basic ";

    /** The length that bcrypt reads of a password; longer ones are never right. */
    private static final int LONGEST = 72;

    private static final int AT_A_TIME = 2;

    private final Map<String, String> users;
    private final String nobody;
    private final Map<String, byte[]> remembered = new ConcurrentHashMap<>();
    private final Semaphore free = new Semaphore(AT_A_TIME);
    private final SecretKeySpec key;

    /** @param users bcrypt hashes by name */
    Passwords(Map<String, String> users) {
        this.users = Map.copyOf(users);
        byte[] random = new byte[32];
        new SecureRandom().nextBytes(random);
        key = new SecretKeySpec(random, "HmacSHA256");
        int cost = users.values().stream().mapToInt(Passwords::cost).max().orElse(LEAST_COST);
        nobody = BCrypt.withDefaults()
                .hashToString(cost, Base64.getEncoder().encodeToString(random).toCharArray());
    }

    /** Returns why a hash cannot be used; empty: it can. The hash itself is not shown. */
    static String refusal(String hash) {
        if (!HASH.matcher(hash).matches()) {
            return "expected a bcrypt hash, $2y$10$ and 53 characters, as `htpasswd -nBC 10 NAME` prints it";
        }
        int cost = cost(hash);
        return cost >= LEAST_COST && cost <= LARGEST_COST
                ? ""
                : "cost %d: expected %d to %d; above that one request takes seconds"
                        .formatted(cost, LEAST_COST, LARGEST_COST);
    }

    private static int cost(String hash) {
        Matcher matcher = HASH.matcher(hash);
        return matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
    }

    /** @param authorization the header; null: there is none */
    Verdict check(@Nullable String authorization) {
        if (authorization == null || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            return Verdict.WRONG;
        }
        String pair;
        try {
            byte[] decoded = Base64.getDecoder()
                    .decode(authorization.substring(SCHEME.length()).strip());
            pair = new String(decoded, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException notBase64) {
            return Verdict.WRONG;
        }
        int colon = pair.indexOf(':');
        return colon < 0 ? Verdict.WRONG : check(pair.substring(0, colon), pair.substring(colon + 1));
    }

    private Verdict check(String user, String password) {
        byte[] bytes = password.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > LONGEST) {
            return Verdict.WRONG;
        }
        byte[] seal = seal(user, bytes);
        byte[] known = remembered.get(user);
        if (known != null && MessageDigest.isEqual(known, seal)) {
            return Verdict.RIGHT;
        }
        if (!free.tryAcquire()) {
            return Verdict.BUSY;
        }
        try {
            String hash = users.get(user);
            boolean isRight = BCrypt.verifyer()
                    .verify(bytes, (hash == null ? nobody : hash).getBytes(StandardCharsets.US_ASCII))
                    .verified;
            if (!isRight || hash == null) {
                return Verdict.WRONG;
            }
            remembered.put(user, seal);
            return Verdict.RIGHT;
        } finally {
            free.release();
        }
    }

    private byte[] seal(String user, byte[] password) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            mac.update(user.getBytes(StandardCharsets.UTF_8));
            mac.update((byte) 0);
            return mac.doFinal(password);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has HmacSHA256", e);
        }
    }
}
