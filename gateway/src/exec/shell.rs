//! The shell half of the conversation: the fixed program of the container, and what it is sent.

use std::fmt::Write as _;

use mcc_catalog::model::ResolvedLimits;

use super::conversation::OnHangup;

/// The fixed program: `sh -c SHELL_PROGRAM SHELL`. It reads a hello line, answers it on stderr, waits for `go` and
/// becomes the shell that reads the payload. End of input before that: 97, nothing has run.
pub const SHELL_PROGRAM: &str = "trap 'exit 143' TERM; IFS= read -r n && [ -n \"$n\" ] || exit 97; \
    printf '%s\\n' \"$n\" >&2; IFS= read -r g && [ \"$g\" = go ] || exit 97; exec \"$0\" -s";

/// What a script is run with.
#[derive(Clone, Copy, Debug)]
pub struct ShellPayload<'a> {
    /// The shell, absolute.
    pub shell: &'a str,
    /// The script.
    pub script: &'a str,
    /// Variables for the script, on top of what the fixed program was started with. Names must be shell names.
    pub env: &'a [(String, String)],
    /// What the script reads; none: end of input at once.
    pub stdin: Option<&'a [u8]>,
    /// Bounds that are set in the script's own process: the wrapper must keep working beyond them.
    pub limits: &'a ResolvedLimits,
    /// File for session values, absolute; it need not exist.
    pub session_file: &'a str,
    /// What happens to the script when the stream breaks.
    pub on_hangup: OnHangup,
    /// Tag by which all processes of the call are known (see [`super::descendants`]).
    pub tag: Option<u64>,
}

impl ShellPayload<'_> {
    /// The text to send after `go`. `marker` must not occur in anything the script can see.
    ///
    /// It is one `{ …; }` group: cut short, it is a syntax error and runs nothing. The script runs in a session of
    /// its own where there is `setsid`, so that a kill reaches its children and not the wrapper.
    pub fn text(&self, marker: &str) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.script.len() + self.stdin.map_or(0, <[u8]>::len) + 2048);
        let mut put = |piece: &str| text.extend_from_slice(piece.as_bytes());
        put(
            "go\n{\ntrap 'exit 143' TERM\nexec 8<&0\n__s=\ncommand -v setsid >/dev/null 2>&1 && __s=setsid\n",
        );
        if let Some(tag) = self.tag {
            put(&format!("ulimit -m {tag} 2>/dev/null\n"));
        }
        put(&format!("__f={}\n", quote(self.session_file)));
        if let Some(stdin) = self.stdin {
            text.extend_from_slice(b"printf %s ");
            quote_bytes(stdin, &mut text);
            text.extend_from_slice(b" 2>/dev/null 8<&- | ");
        }
        let mut put = |piece: &str| text.extend_from_slice(piece.as_bytes());
        put("(\n");
        for (name, value) in self.env {
            put(&format!("export {name}={}\n", quote(value)));
        }
        put("export MCC_SESSION=\"$__f\"\n");
        put(&ulimits(self.limits));
        put(&format!("exec $__s {} -c {}\n) 8<&-", quote(self.shell), quote(self.script)));
        put(if self.stdin.is_some() { " &\n" } else { " </dev/null &\n" });
        put("__p=$!\n");
        let hangup = match self.on_hangup {
            OnHangup::Kill => "__k\n",
            OnHangup::Continue => "",
        };
        put(&format!(
            "__k() {{ kill -9 -$__p || kill -9 $__p; }}\n\
             (\nwhile IFS= read -r k <&8; do case $k in kill) __k;; *) exit;; esac; done\n{hangup}) >/dev/null 2>&1 &\n"
        ));
        put("__w=$!\nwait $__p 2>/dev/null\n__c=$?\n");
        put(&format!("__m={marker}\n"));
        // Only a run that succeeded may change the session.
        put("if [ $__c = 0 ] && [ -f \"$__f\" ] && [ -s \"$__f\" ]; then\n\
             printf '%ss\\n' $__m >&2\nPATH=$PATH:/usr/bin:/bin\ncat \"$__f\" >&2\nfi\n");
        put("printf '%sx\\n' $__m\nprintf '%sx %s\\n' $__m $__c >&2\nwait $__w\nexit $__c\n}\n");
        text
    }
}

/// The `ulimit` commands of `limits`, as DECISIONS 10 has them.
fn ulimits(limits: &ResolvedLimits) -> String {
    let mut text = String::new();
    // A bound that can't be set is one that the surroundings set tighter: it holds anyway.
    if let Some(seconds) = limits.cpu_seconds {
        // One second between the soft and the hard bound, so that SIGXCPU says why.
        let hard = seconds.saturating_add(1);
        let _ = writeln!(text, "ulimit -S -t {seconds} 2>/dev/null && ulimit -H -t {hard} 2>/dev/null");
    }
    if let Some(bytes) = limits.file_bytes {
        let _ = writeln!(text, "ulimit -f {} 2>/dev/null", bytes.div_ceil(512));
    }
    if let Some(files) = limits.open_files {
        let _ = writeln!(text, "ulimit -n {files} 2>/dev/null");
    }
    if let Some(processes) = limits.processes {
        // bash has -u; dash and busybox have -p for the same, which is something else in bash.
        let _ = writeln!(text, "ulimit -u {processes} 2>/dev/null || ulimit -p {processes} 2>/dev/null");
    }
    text
}

/// `value` as one word of a shell.
pub fn quote(value: &str) -> String {
    format!("'{}'", value.replace('\'', "'\\''"))
}

fn quote_bytes(value: &[u8], into: &mut Vec<u8>) {
    into.push(b'\'');
    for part in value.split_inclusive(|&byte| byte == b'\'') {
        match part.strip_suffix(b"'") {
            Some(part) => {
                into.extend_from_slice(part);
                into.extend_from_slice(b"'\\''");
            }
            None => into.extend_from_slice(part),
        }
    }
    into.push(b'\'');
}
