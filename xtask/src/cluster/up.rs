//! `up`: from nothing, or from whatever is left of a cluster, to a node that is ready.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::addresses::Addresses;
use super::root::{Root, State};
use super::{
    Place, config, images, keys, load_image, network, node, parts, programs, progress, ready, requirements,
    root,
};

/// Starts the node or mends it, and prints the path of its kubeconfig.
pub fn run(place: &Place, network: [u8; 2], patience: Duration) -> Result<()> {
    let began = Instant::now();
    requirements::check()?;
    let root = Root::new(place)?;
    let _held = root.lock()?;
    let cache = root::cache(place)?;
    let programs = programs::get(&cache)?;
    let archives = images::get(&cache)?;
    let recipe = recipe(&programs, archives.first().and_then(|archive| archive.parent()));
    let running = root.state()?.filter(|state| ready::is_alive(state) && state.recipe == recipe);
    let state = match running {
        // It may have been about to end: then it is found out now.
        Some(state) => match wait(&root, &state, &archives, patience) {
            Err(_) if !ready::is_alive(&state) => None,
            result => result.map(|()| Some(state))?,
        },
        None => None,
    };
    let state = if let Some(state) = state {
        state
    } else {
        let state = start(&root, network, &programs, recipe)?;
        wait(&root, &state, &archives, patience)?;
        state
    };
    let (machine, seconds) = (state.addresses.machine(), began.elapsed().as_secs_f64());
    progress::say(format_args!(
        "ready at {} after {seconds:.1} s; pods reach this machine as {machine}; kubectl is {}",
        state.addresses.api(),
        root.programs().join("kubectl").display()
    ));
    println!("{}", root.kubeconfig().display());
    Ok(())
}

/// Waits until the node has the images and does its work.
fn wait(root: &Root, state: &State, archives: &[PathBuf], patience: Duration) -> Result<()> {
    if !root.is_loaded() {
        progress::step("loaded the images", || {
            load_image::load(root, state, archives, patience)?;
            root.set_loaded()
        })?;
    }
    progress::step("everything answers", || ready::wait(root, state, patience))
}

fn start(root: &Root, network: [u8; 2], programs: &Path, recipe: String) -> Result<State> {
    if root.state()?.is_some() {
        progress::say("removing an earlier cluster that isn't the wanted one or has ended");
    }
    node::stop(root)?;
    let addresses = network::claim(root.path(), network)?;
    let mut state = State { addresses, programs: programs.to_owned(), recipe, init: None };
    root.save(&state)?;
    fs_err::create_dir_all(root.data())?;
    symlink(programs, root.programs())?;
    progress::step("made keys and configuration", || {
        keys::write(root, addresses)?;
        config::write(root, addresses)
    })?;
    progress::step("started the node", || node::start(root, &mut state))?;
    Ok(state)
}

/// Everything that a cluster is made of: when it differs, a running one isn't the one that is wanted.
fn recipe(programs: &Path, images: Option<&Path>) -> String {
    let arguments = parts::all(Addresses::default());
    let images = images.unwrap_or(programs).display();
    images::digest(&format!("{} {images} {arguments:?} {}", programs.display(), config::recipe()))
}
