use std::collections::VecDeque;

pub struct RingBuffer<T> {
    items: VecDeque<T>,
    cap: usize,
}

impl<T> RingBuffer<T> {
    pub fn new(cap: usize) -> Self {
        RingBuffer { items: VecDeque::with_capacity(cap), cap }
    }

    pub fn push(&mut self, item: T) -> Option<T> {
        let dropped = if self.items.len() == self.cap { self.items.pop_front() } else { None };
        self.items.push_back(item);
        dropped
    }

    pub fn drain_all(&mut self) -> Vec<T> {
        self.items.drain(..).collect()
    }
}
