//! A fair queue of waiting requests.

use std::collections::{HashSet, VecDeque};

/// The jobs of clients, taken round-robin: one of each client in order of arrival. A job without a client counts as a client
/// of its own, so without clients this is a FIFO queue.
#[derive(Debug)]
pub(crate) struct Queue<J> {
    clients: VecDeque<(Option<u64>, VecDeque<J>)>,
}

impl<J> Default for Queue<J> {
    fn default() -> Self {
        Self { clients: VecDeque::new() }
    }
}

impl<J> Queue<J> {
    pub(crate) fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    /// Adds a job behind the others of its client.
    pub(crate) fn push(&mut self, client: Option<u64>, job: J) {
        let known = client.and_then(|_| self.clients.iter_mut().find(|(known, _)| *known == client));
        match known {
            Some((_, jobs)) => jobs.push_back(job),
            None => self.clients.push_back((client, VecDeque::from([job]))),
        }
    }

    /// The waiting clients.
    pub(crate) fn clients(&self) -> HashSet<u64> {
        self.clients.iter().filter_map(|(client, _)| *client).collect()
    }

    /// Removes jobs for which `keep` is false, such as cancelled ones.
    #[cfg(any(test, feature = "llama"))]
    pub(crate) fn retain(&mut self, keep: impl Fn(&J) -> bool) {
        for (_, jobs) in &mut self.clients {
            jobs.retain(&keep);
        }
        self.clients.retain(|(_, jobs)| !jobs.is_empty());
    }

    /// Offers jobs round-robin until every client was refused. `take` returns a job that cannot begin now, and whether others
    /// may.
    pub(crate) fn offer(&mut self, mut take: impl FnMut(Option<u64>, J) -> Admission<J>) {
        let mut refused = VecDeque::new();
        while let Some((client, mut jobs)) = self.clients.pop_front() {
            let Some(job) = jobs.pop_front() else { continue };
            match take(client, job) {
                Admission::Taken if jobs.is_empty() => {}
                Admission::Taken => self.clients.push_back((client, jobs)),
                Admission::Later(job) => {
                    jobs.push_front(job);
                    refused.push_back((client, jobs));
                }
                Admission::Full(job) => {
                    jobs.push_front(job);
                    refused.push_back((client, jobs));
                    break;
                }
            }
        }
        refused.append(&mut self.clients);
        self.clients = refused;
    }
}

/// The result of offering a job.
pub(crate) enum Admission<J> {
    /// It has begun, or was cancelled.
    Taken,
    /// It cannot begin now, though others may.
    Later(J),
    /// Nothing can begin now.
    Full(J),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(queue: &mut Queue<u32>, most: usize) -> Vec<u32> {
        let mut taken = Vec::new();
        queue.offer(|_, job| {
            if taken.len() == most {
                return Admission::Full(job);
            }
            taken.push(job);
            Admission::Taken
        });
        taken
    }

    #[test]
    fn clients_take_turns_and_jobs_without_a_client_keep_their_order() {
        let mut queue = Queue::default();
        (0..6).for_each(|job| queue.push(Some(1), job));
        queue.push(Some(2), 10);
        queue.push(None, 20);
        queue.push(None, 21);
        assert_eq!(taken(&mut queue, 5), [0, 10, 20, 21, 1]);
        queue.push(Some(2), 11);
        assert_eq!(taken(&mut queue, 9), [2, 11, 3, 4, 5]);
        assert!(queue.is_empty());
        (0..6).for_each(|job| queue.push(None, job));
        queue.retain(|job| job % 2 == 0);
        assert_eq!(taken(&mut queue, 2), [0, 2]);
        assert_eq!(taken(&mut queue, 2), [4]);
    }

    #[test]
    fn a_client_that_cannot_begin_does_not_hold_up_others() {
        let mut queue = Queue::default();
        (0..3).for_each(|job| queue.push(Some(1), job));
        queue.push(Some(2), 10);
        let mut seen = Vec::new();
        queue.offer(|client, job| {
            if client == Some(1) {
                return Admission::Later(job);
            }
            seen.push(job);
            Admission::Taken
        });
        assert_eq!(seen, [10]);
        assert_eq!(taken(&mut queue, 9), [0, 1, 2]);
    }
}
