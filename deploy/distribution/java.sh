# Read by both launchers, the checkout's and the distribution's: finds Java and hands over to it.
#   JAVA_HOME             the Java to use (17 or newer); otherwise the first java on PATH
#   PLUMBLINE_JAVA_OPTS   options for that Java, e.g. "-Xmx4g"
#   TMPDIR                where temporary folders go, as everywhere; Java alone would not ask
#   PLUMBLINE_LOG         log level on stderr: error, warn (default), info, debug
#   XDG_CACHE_HOME        the folder of caches (default: ~/.cache); plumbline/ in it holds Java's archives of classes
# shellcheck shell=bash

fail() {
  echo "plumbline: $*" >&2
  exit 3
}

# Sets java and java_major.
find_java() {
  if [ -n "${JAVA_HOME:-}" ]; then
    java=$JAVA_HOME/bin/java
    [ -x "$java" ] || fail "JAVA_HOME is $JAVA_HOME, which has no bin/java; point it at a Java 17 or newer, or unset it."
  else
    java=$(command -v java || true)
    [ -n "$java" ] || fail "no Java found. Install Java 17 or newer (for example: apt install openjdk-17-${1}) or set JAVA_HOME."
  fi
  # A file of the installation says its version, where there is one: asking Java takes as long as starting it.
  # 'JAVA_VERSION="17.0.15"' and 'openjdk version "17.0.15" 2025-04-15' -> 17; "1.8.0_402" -> 1, which is too old just the same.
  release=$(dirname "$(dirname "$(readlink -f "$java")")")/release
  java_major=
  [ ! -r "$release" ] || java_major=$(sed -n 's/^JAVA_VERSION="\([0-9][0-9]*\).*/\1/p' "$release" | head -n 1)
  [ -n "$java_major" ] || java_major=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9][0-9]*\).*/\1/p' | head -n 1)
  [ -n "$java_major" ] || fail "$java does not say its version; set JAVA_HOME to a Java 17 or newer."
  [ "$java_major" -ge 17 ] || fail "$java is Java $java_major; Plumbline needs 17 or newer. Set JAVA_HOME to one."
}

# Whether Java has the module of vector instructions: a file of the installation says so, where there is one.
has_vector_module() {
  modules=
  [ ! -r "$release" ] || modules=$(sed -n 's/^MODULES="\(.*\)"/ \1 /p' "$release" | head -n 1)
  case $modules in
    *' jdk.incubator.vector '*) ;;
    '') "$java" --list-modules 2>/dev/null | grep -q '^jdk\.incubator\.vector' ;;
    *) return 1 ;;
  esac
}

# Whether this is a Java 17 of ARM. It has no instructions of SVE that turn floats into doubles, and makes an object of each such vector instead,
# 47 MB for 512 rows of 600 columns. Java 18 brought them (JEP 417); without SVE, Java 17 has them too.
lacks_conversions() {
  [ "$java_major" -lt 18 ] && [ -r "${release:-}" ] && grep -q '^OS_ARCH="aarch64"' "$release"
}

# The command among the arguments: options such as --verbose may stand before it. Nothing where there is none.
command_of() {
  for word in "$@"; do
    case $word in
      -*) ;;
      *)
        echo "$word"
        return
        ;;
    esac
  done
}

# has_option OPTION ARGUMENTS...: whether the option is among the arguments, with its value or before it.
has_option() {
  option=$1
  shift
  for word in "$@"; do
    case $word in
      "$option" | "$option"=*) return 0 ;;
    esac
  done
  return 1
}

# Whether a command runs the rest of a model, or speaks of all commands: ONNX Runtime stands on no other class path.
needs_head() {
  case "$(command_of "$@")" in
    causal | evaluate | completion | help | '') return 0 ;;
    adapt) has_option --head "$@" ;;
    demo) has_option --live "$@" ;;
    *) return 1 ;;
  esac
}

# Whether rows of BF16 are to be multiplied by a library of the machine: JNA stands on no other class path.
needs_library() {
  case " ${PLUMBLINE_JAVA_OPTS:-} " in
    *' -Dplumbline.kernel=native '*) return 0 ;;
    *) return 1 ;;
  esac
}

# Whether a command is one of the demonstration and the benchmarks, or speaks of all commands: the service does without their jars.
needs_laboratory() {
  case "$(command_of "$@")" in
    demo | broker | bench | completion | help | '') return 0 ;;
    *) return 1 ;;
  esac
}

# Whether nothing but a text is asked for: the help of a command too.
only_prints() {
  case "$(command_of "$@")" in help | completion | '') return 0 ;; esac
  for word in "$@"; do
    case $word in -h | --help | -V | --version) return 0 ;; esac
  done
  return 1
}

# Whether a command writes an archive of classes: one that ends soon and reads the classes that others need. The service
# writes none: Java writes at the end, and a stop would take seconds longer.
writes_archive() {
  case "$(command_of "$@")" in
    check) ! has_option --offline "$@" ;;
    demo) ! has_option --toy "$@" ;;
    *) return 1 ;;
  esac
}

# keep_archive ARCHIVE BOOT: makes a file that Java has written the archive, and removes what killed processes left. Java
# writes to ARCHIVE.BOOT.PROCESS, so that two processes do not write to one file.
keep_archive() {
  for written in "$1".*; do
    [ -f "$written" ] || continue
    if [ "${written%.*}" != "$1.$2" ]; then
      # Of another boot: after a power failure a part may be missing, and Java would end with SIGBUS.
      rm -f "$written"
    elif [ "$(od -A n -t x4 -N 4 "$written" | tr -d ' ')" = f00baba8 ]; then
      # Java writes these bytes last. A process that never spoke to a broker has read too few classes.
      if [ ! -f "$1" ] && LC_ALL=C grep -qF org/apache/kafka/clients/NetworkClient "$written" && sync "$written"; then
        mv -f "$written" "$1"
      else
        rm -f "$written"
      fi
    elif ! kill -0 "${written##*.}"; then
      rm -f "$written"
    fi
  done
}

# archive_flag_of CLASS_PATH ARGUMENTS...: prints Java's flag that reads the archive of classes, or that writes one.
archive_flag_of() {
  folder=${XDG_CACHE_HOME:-${HOME:?}/.cache}/plumbline
  # Java takes what stands before a colon for another archive.
  case $folder in *:* | [!/]*) return 0 ;; esac
  if [ ! -d "$folder" ]; then
    # Not root in a user's home, as sudo has it.
    [ -n "${XDG_CACHE_HOME:-}" ] || [ -O "$HOME" ] || return 0
    (umask 077 && mkdir -p "$folder")
  fi
  # Another user's file could hold any code.
  [ -O "$folder" ] || return 0
  class_path=$1
  shift
  # Of each class path one file: its name covers Java's version and the name, which has the version, size and time of each jar.
  place=$(echo "$class_path $release" | cksum)
  content=$(
    IFS=:
    # shellcheck disable=SC2086
    set -- $class_path
    { stat -L -c '%n %s %Y' "$@" || stat -L -f '%N %z %m' "$@"; } | cat - "$release" | cksum
  )
  place=classes-${place%% *}
  archive=$folder/$place-${content%% *}.jsa
  boot=
  [ ! -r /proc/sys/kernel/random/boot_id ] || read -r boot </proc/sys/kernel/random/boot_id
  keep_archive "$archive" "$boot"
  if [ -f "$archive" ]; then
    [ ! -O "$archive" ] || echo "-XX:SharedArchiveFile=$archive"
    return 0
  fi
  writes_archive "$@" || return 0
  # With an agent or another module path, and on a full disk, Java would end with an error instead of writing.
  for option in $java_options; do
    case $option in -Xm[sx]* | -D*) ;; *) return 0 ;; esac
  done
  [ "$(ulimit -f)" = unlimited ] && [ "$(df -P -k "$folder" | awk 'NR == 2 { print $4 }')" -gt 524288 ] || return 0
  # Archives of other jars in this place, and those that nobody has read for a month.
  find "$folder" -name 'classes-*' -type f \( -name "$place-*" ! -name "${archive##*/}*" -o -atime +30 \) -delete
  : >"$archive.$boot.$$" && echo "-XX:ArchiveClassesAtExit=$archive.$boot.$$"
}

# find_archive CLASS_PATH ARGUMENTS...: sets archive_flag. Java can keep the classes that it has read in a file, and maps
# them at a later start in less time. Everything works without: nothing here prints or fails a start.
find_archive() {
  archive_flag=
  java_options="${PLUMBLINE_JAVA_OPTS:-} ${JAVA_TOOL_OPTIONS:-} ${JDK_JAVA_OPTIONS:-} ${_JAVA_OPTIONS:-}"
  case $java_options in *Archive* | *-Xshare*) return 0 ;; esac
  if only_prints "$@" || [ ! -r "$release" ]; then return 0; fi
  archive_flag=$(archive_flag_of "$@" 2>/dev/null) || archive_flag=
}

# start CLASS_PATH ARGUMENTS...: becomes Java. $downstream holds the class path of what runs the rest of a model, which a
# service reads where a site names one.
start() {
  class_path=$1
  shift
  command=$(command_of "$@")
  # Java 24 warns about native access (RocksDB) and memory access (Kafka) that are meant; older ones do not know the options.
  quiet_flags=
  [ "$java_major" -lt 24 ] || quiet_flags='--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow'
  # Sums of rows by the processor's vector instructions. Java says on stderr that the module is an incubating one: so only where
  # rows are summed, and where the module is there.
  vector_flag=
  case $command in
    run | demo | baseline | assess | adapt | encode | bench | causal | evaluate)
      if has_vector_module; then
        vector_flag='--add-modules jdk.incubator.vector'
        if lacks_conversions; then vector_flag="$vector_flag -XX:UseSVE=0"; fi
      fi
      ;;
  esac
  # What only prints a text ends before compiled code pays. A command that reads files once and ends
  # has no pauses to keep short: a baseline took a fifth less processor time with the serial collector,
  # and a tenth less again with an eighth of the memory from the start: the moments of clean windows filled up
  # what Java begins with, a sixty-fourth, 218 times, and 17 times all of it was collected.
  brief_flags=
  collector_flag=
  if only_prints "$@"; then
    vector_flag=
    brief_flags=-XX:TieredStopAtLevel=1
    collector_flag=-XX:+UseSerialGC
  else
    case $command in
      baseline | assess | encode) collector_flag='-XX:+UseSerialGC -XX:InitialRAMPercentage=12' ;;
    esac
  fi
  # Java refuses two collectors, and reads options in these variables too.
  case ${PLUMBLINE_JAVA_OPTS:-}${JAVA_TOOL_OPTIONS:-}${JDK_JAVA_OPTIONS:-}${_JAVA_OPTIONS:-} in *GC*) collector_flag= ;; esac
  # Out of memory, a process would live on with some of its threads dead: it ends instead, with exit code 3. A command that reads
  # files and ends has no thread that lives on: it says how much memory it needs, and ends with the same code.
  case $command in
    baseline | assess | adapt | encode | explainer) memory_flag= ;;
    *) memory_flag=-XX:+ExitOnOutOfMemoryError ;;
  esac
  # In regions of G1's own choice (2 MiB in a heap of 6 GiB) the buffer of each fetch and the moment of a pane are "humongous": every second pause
  # was on their behalf. Another collector takes no notice.
  region_flag=-XX:G1HeapRegionSize=8m
  downstream_flag=
  [ "$command" != run ] || downstream_flag=-Dplumbline.downstream=${downstream:-}
  # Progress bars are for people: only when what is printed goes to a terminal.
  terminal=
  if [ -t 1 ] && [ -t 2 ]; then terminal=-Dplumbline.terminal=true; fi
  # The words after archive_flag: Java would print each class that an archive cannot hold, and why it does not use one.
  # These hold several options or none, separated by blanks on purpose.
  # shellcheck disable=SC2086
  exec "$java" $quiet_flags $vector_flag $brief_flags $collector_flag $memory_flag $region_flag $terminal ${downstream_flag:+"$downstream_flag"} ${TMPDIR:+"-Djava.io.tmpdir=$TMPDIR"} ${archive_flag:+"$archive_flag" '-Xlog:cds*=off'} ${PLUMBLINE_JAVA_OPTS:-} -cp "$class_path" \
    io.plumbline.topology.operate.Plumbline "$@"
}
