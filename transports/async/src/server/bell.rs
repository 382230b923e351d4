//! Which handlers want to go on: each has a waker of its own, so that one that is ready costs nothing to the others.

use crate::lock;
use barewire::{CallId, Progress};
use core::{
    mem::take,
    sync::atomic::{AtomicBool, Ordering::AcqRel},
    task::Waker,
};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    task::Wake,
};

/// Reports of one call that may wait while the peer does not read; the oldest is dropped beyond it.
const REPORTS: usize = 16;

/// What came in since the driver looked last.
#[derive(Default)]
pub(super) struct Bell(Mutex<News>);

#[derive(Default)]
pub(super) struct News {
    /// Calls whose handlers were woken.
    pub(super) woken: Vec<CallId>,
    /// Calls that have something to report.
    pub(super) told: Vec<CallId>,
    /// The list of tools is another.
    pub(super) changed: bool,
    driver: Option<Waker>,
}

impl Bell {
    /// Takes the news, and wakes `driver` for the next.
    pub(super) fn listen(&self, driver: &Waker) -> News {
        let mut news = lock(&self.0);
        match &mut news.driver {
            Some(known) => known.clone_from(driver),
            None => news.driver = Some(driver.clone()),
        }
        News {
            woken: take(&mut news.woken),
            told: take(&mut news.told),
            changed: take(&mut news.changed),
            driver: None,
        }
    }

    fn ring(&self, add: impl FnOnce(&mut News)) {
        let mut news = lock(&self.0);
        add(&mut news);
        let driver = news.driver.clone();
        drop(news);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

/// One call's line to the driver: the waker of its handler, and its reports.
pub(super) struct Line {
    bell: Arc<Bell>,
    id: CallId,
    woken: AtomicBool,
    reports: Mutex<VecDeque<Report>>,
}

/// How far the call was.
pub(super) struct Report {
    done: u64,
    total: Option<u64>,
    message: Option<String>,
}

impl Report {
    pub(super) fn lend(&self) -> Progress<'_> {
        Progress { done: self.done, total: self.total, message: self.message.as_deref() }
    }
}

impl Line {
    pub(super) fn new(bell: &Arc<Bell>, id: CallId) -> Arc<Self> {
        Arc::new(Self {
            bell: Arc::clone(bell),
            id,
            woken: AtomicBool::new(false),
            reports: Mutex::default(),
        })
    }

    /// The handler is about to be polled: what wakes it from now on counts again.
    pub(super) fn attend(&self) {
        self.woken.store(false, core::sync::atomic::Ordering::Release);
    }

    pub(super) fn tell(&self, progress: Progress<'_>) {
        let message = progress.message.map(str::to_owned);
        let mut reports = lock(&self.reports);
        if reports.len() == REPORTS {
            reports.pop_front();
        }
        reports.push_back(Report { done: progress.done, total: progress.total, message });
        let first = reports.len() == 1;
        drop(reports);
        if first {
            self.bell.ring(|news| news.told.push(self.id));
        }
    }

    pub(super) fn changed(&self) {
        self.bell.ring(|news| news.changed = true);
    }

    /// Hands reports on as long as `send` takes them. `true`: none is left.
    pub(super) fn report(&self, mut send: impl FnMut(Progress<'_>) -> bool) -> bool {
        let mut reports = lock(&self.reports);
        while let Some(report) = reports.front() {
            if !send(report.lend()) {
                return false;
            }
            reports.pop_front();
        }
        true
    }
}

impl Wake for Line {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, AcqRel) {
            self.bell.ring(|news| news.woken.push(self.id));
        }
    }
}
