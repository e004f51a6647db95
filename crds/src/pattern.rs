//! The regular expressions of the schemas, with words for people.
//!
//! They are written in the common part of Go's and Rust's syntax, since the API server and `mcc lint` both run them.

/// Name of a tool.
pub const TOOL_NAME: &str = "^[A-Za-z0-9_-]+$";
/// Name of a group: a DNS label.
pub const GROUP: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// Name of a parameter.
pub const PARAM_NAME: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
/// A group of a grant: a name, or literal labels and a final `*`.
pub const GRANTED_GROUP: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?((\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\.\*)?$";
/// Key of a tool.
pub const TOOL_KEY: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?\.)*[A-Za-z0-9_-]{1,64}$";
/// Import path of a Python function.
pub const PYTHON_FUNCTION: &str =
    r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$";
/// Method of an HTTP request.
pub const HTTP_METHOD: &str = "^[A-Z]+$";
/// Reference of an image.
pub const IMAGE: &str = r"^[A-Za-z0-9][-A-Za-z0-9._/:@+]*$";
/// A Kubernetes quantity.
pub const QUANTITY: &str = r"^[0-9]+(\.[0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][0-9]+)?$";
/// Name of an object: a DNS subdomain.
pub const OBJECT_NAME: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
/// Name of a namespace: a DNS label.
pub const NAMESPACE: &str = GROUP;
/// An e-mail address, roughly.
pub const EMAIL: &str = r"^[^@\s]+@[^@\s]+$";
/// Name of an environment variable.
pub const ENV_NAME: &str = PARAM_NAME;
/// Prefix of environment variables, which may be empty.
pub const ENV_PREFIX: &str = "^([A-Za-z_][A-Za-z0-9_]*)?$";

/// Value of a label.
pub const LABEL_VALUE: &str = "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$";

/// What a pattern asks for, in words that follow "must be"; none for a pattern that isn't one of these.
pub fn describe(pattern: &str) -> Option<&'static str> {
    Some(match pattern {
        TOOL_NAME => "letters, digits, _ and - only",
        GROUP => {
            "lower-case letters, digits and -, beginning and ending with a letter or digit, without dots"
        }
        PARAM_NAME => "letters, digits and _, not beginning with a digit",
        ENV_PREFIX => "empty, or letters, digits and _, not beginning with a digit",
        GRANTED_GROUP => "a group's name, or at least one name followed by .* as in osint.gov.*",
        TOOL_KEY => "the key of a tool, as in academic.search",
        PYTHON_FUNCTION => "package.module:function",
        HTTP_METHOD => "a method in capitals, as in GET",
        IMAGE => "an image reference, as in docker.io/library/busybox:1.37",
        QUANTITY => "a quantity, as in 500m, 0.5, 256Mi or 1Gi",
        OBJECT_NAME => "lower-case letters, digits, - and ., beginning and ending with a letter or digit",
        LABEL_VALUE => "letters, digits, -, _ and ., beginning and ending with a letter or digit",
        EMAIL => "an address, as in alice@example.com",
        _ => return None,
    })
}
