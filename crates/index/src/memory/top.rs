//! The best few of many.

/// Keeps the `limit` best of what is offered: by falling score, then by the order of the ids.
pub(super) struct Top<F> {
    limit: usize,
    kept: Vec<(u32, f32)>,
    /// Nothing below gets in; known once `limit` were kept.
    threshold: f32,
    /// The last of those kept when the threshold was found: of equal scores, nothing after it gets in.
    last: Option<u32>,
    /// Whether the first id comes before the second when their scores are equal.
    before: F,
}

impl<F: Fn(u32, u32) -> bool> Top<F> {
    pub(super) fn new(limit: usize, before: F) -> Self {
        Self { limit, kept: Vec::with_capacity(limit * 2), threshold: f32::NEG_INFINITY, last: None, before }
    }

    /// Whether a score may still get in: lets callers skip work.
    #[inline]
    pub(super) fn admits(&self, score: f32) -> bool {
        score >= self.threshold
    }

    #[inline]
    pub(super) fn offer(&mut self, id: u32, score: f32) {
        #[expect(clippy::float_cmp, reason = "a tie is a tie")]
        let tied = score == self.threshold;
        if !self.admits(score) || (tied && self.last.is_some_and(|last| (self.before)(last, id))) {
            return;
        }
        self.kept.push((id, score));
        if self.kept.len() >= self.limit * 2 {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.kept.len() <= self.limit || self.limit == 0 {
            self.kept.truncate(self.limit);
            return;
        }
        let before = &self.before;
        self.kept.select_nth_unstable_by(self.limit - 1, |a, b| {
            b.1.total_cmp(&a.1).then_with(|| {
                if before(a.0, b.0) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater }
            })
        });
        self.kept.truncate(self.limit);
        let (id, score) = self.kept[self.limit - 1];
        (self.last, self.threshold) = (Some(id), score);
    }

    /// What was kept, in no order.
    pub(super) fn into_vec(mut self) -> Vec<(u32, f32)> {
        self.shrink();
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_best_and_breaks_ties_by_id() {
        let mut top = Top::new(3, |a, b| a < b);
        for id in (0..100).rev() {
            #[expect(clippy::cast_precision_loss, reason = "small")]
            top.offer(id, (id / 10) as f32);
        }
        let mut kept = top.into_vec();
        kept.sort_unstable_by_key(|&(id, _)| id);
        assert_eq!(kept, [(90, 9.0), (91, 9.0), (92, 9.0)]);
    }

    #[test]
    fn fewer_than_the_limit() {
        let mut top = Top::new(3, |a, b| a < b);
        top.offer(7, 1.0);
        assert_eq!(top.into_vec(), [(7, 1.0)]);
    }
}
