//! Writes a configuration file: backup first, then the whole file at once.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Replaces `file` by `text` and returns where its old content was kept, if it had any.
///
/// The old file's permissions are kept, and a link is followed. Readers see the old or the new file, never a part.
pub fn write(file: &Path, text: &str) -> anyhow::Result<Option<PathBuf>> {
    let target = if file.is_symlink() { fs_err::canonicalize(file)? } else { file.to_owned() };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs_err::create_dir_all(folder)?;
    let backup = if target.exists() { Some(back_up(&target)?) } else { None };
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    if let Ok(metadata) = fs_err::metadata(&target) {
        fs_err::set_permissions(temporary.path(), metadata.permissions())?;
    }
    temporary.persist(&target).with_context(|| format!("cannot replace {}", target.display()))?;
    Ok(backup)
}

/// Copies `file` beside itself under the first free name of `.bak`, `.bak2`, …
fn back_up(file: &Path) -> anyhow::Result<PathBuf> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let free = (1..).map(|n| if n == 1 { String::new() } else { n.to_string() });
    for suffix in free {
        let backup = file.with_file_name(format!("{name}.bak{suffix}"));
        if backup.exists() {
            continue;
        }
        fs_err::copy(file, &backup)?;
        return Ok(backup);
    }
    anyhow::bail!("no free name for a backup of {}", file.display())
}
