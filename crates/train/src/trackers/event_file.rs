//! TensorBoard event files: TFRecords of `Event` messages, as `tensorboard/compat/proto/event.proto` defines them.

use super::{at, now};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The prefix of the names of event files, and the suffix of those written here.
const PREFIX: &str = "events.out.tfevents.";
const SUFFIX: &str = ".aske";

/// The event file of a training.
///
/// Every start writes it from its first step. Its name is new each time, because a running TensorBoard keeps reading a
/// file that it has opened; earlier files of the folder are removed.
pub(super) struct EventFile {
    path: PathBuf,
    file: File,
}

impl EventFile {
    /// Creates the file, with a configuration as its text summary.
    pub(super) fn create(folder: &Path, config: &[(String, Value)]) -> io::Result<Self> {
        std::fs::create_dir_all(folder).map_err(at(folder))?;
        let mut earlier = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(at(folder))? {
            let entry = entry.map_err(at(folder))?;
            earlier.extend(number(&entry.file_name().to_string_lossy()).map(|number| (number, entry.path())));
        }
        let latest = earlier.iter().map(|(number, _)| *number).max().unwrap_or(0);
        let number = now().as_secs().max(latest + 1);
        // Ten digits, so that files sort by time.
        let path = folder.join(format!("{PREFIX}{number:010}{SUFFIX}"));
        let file = OpenOptions::new().create_new(true).append(true).open(&path).map_err(at(&path))?;
        let mut events = Self { path, file };
        events.append(&Message::event(None, 0).bytes(FILE_VERSION, b"brain.Event:2"))?;
        events.append(&Message::event(None, 0).message(SUMMARY, &text_summary(config)))?;
        for (_, path) in earlier {
            std::fs::remove_file(&path).map_err(at(&path))?;
        }
        Ok(events)
    }

    /// Adds scalars of a step, at a time in seconds since 1970, by default now.
    pub(super) fn add(&mut self, step: u64, time: Option<f64>, scalars: &[(&str, f64)]) -> io::Result<()> {
        let mut summary = Message::default();
        for (tag, scalar) in scalars {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "TensorBoard stores scalars in single precision"
            )]
            let scalar = *scalar as f32;
            let value = Message::default().bytes(TAG, tag.as_bytes()).float(SIMPLE_VALUE, scalar);
            summary = summary.message(VALUE, &value);
        }
        self.append(&Message::event(time, step).message(SUMMARY, &summary))
    }

    /// Appends a TFRecord: length, data, and a checksum of each.
    fn append(&mut self, event: &Message) -> io::Result<()> {
        let length = (event.0.len() as u64).to_le_bytes();
        let checksum = |bytes: &[u8]| masked_crc32c(bytes).to_le_bytes();
        let record = [&length[..], &checksum(&length), &event.0, &checksum(&event.0)].concat();
        self.file.write_all(&record).map_err(at(&self.path))
    }
}

/// The number in the name of one of our event files.
fn number(name: &str) -> Option<u64> {
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}

/// Field numbers of `Event`.
const WALL_TIME: u32 = 1;
const STEP: u32 = 2;
const FILE_VERSION: u32 = 3;
const SUMMARY: u32 = 5;
/// The field number of `Summary`.
const VALUE: u32 = 1;
/// Field numbers of `Summary.Value`.
const TAG: u32 = 1;
const SIMPLE_VALUE: u32 = 2;
const TENSOR: u32 = 8;
const METADATA: u32 = 9;
/// Field numbers of `SummaryMetadata` and of its `PluginData`.
const PLUGIN_DATA: u32 = 1;
const PLUGIN_NAME: u32 = 1;
/// Field numbers of `TensorProto`, and its data type of strings.
const DTYPE: u32 = 1;
const STRING_VAL: u32 = 8;
const DT_STRING: u64 = 7;

/// A configuration as a text summary: a Markdown code block, a key per line.
fn text_summary(config: &[(String, Value)]) -> Message {
    let mut text = String::new();
    for (key, value) in config {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    {key} = {value}");
    }
    let plugin = Message::default().bytes(PLUGIN_NAME, b"text");
    let metadata = Message::default().message(PLUGIN_DATA, &plugin);
    let tensor = Message::default().number(DTYPE, DT_STRING).bytes(STRING_VAL, text.as_bytes());
    let value =
        Message::default().bytes(TAG, b"config").message(TENSOR, &tensor).message(METADATA, &metadata);
    Message::default().message(VALUE, &value)
}

/// A protocol buffer message under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// An event at a time in seconds since 1970, by default now.
    fn event(time: Option<f64>, step: u64) -> Self {
        let mut event = Self::default();
        event.tag(WALL_TIME, 1);
        event.0.extend(time.unwrap_or_else(|| now().as_secs_f64()).to_le_bytes());
        event.number(STEP, step)
    }

    fn tag(&mut self, field: u32, wire_type: u64) {
        self.varint(u64::from(field) << 3 | wire_type);
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.0.push(number.to_le_bytes()[0]);
    }

    fn number(mut self, field: u32, number: u64) -> Self {
        self.tag(field, 0);
        self.varint(number);
        self
    }

    fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.tag(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn message(self, field: u32, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    fn float(mut self, field: u32, number: f32) -> Self {
        self.tag(field, 5);
        self.0.extend(number.to_le_bytes());
        self
    }
}

/// The checksum of TFRecords: a CRC-32C, rotated and offset.
fn masked_crc32c(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli), bit by bit: a step has few bytes.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value of CRC-32C in the catalogue of parametrised CRC algorithms.
    #[test]
    fn the_checksum_is_crc32c() {
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(b""), 0);
    }

    /// Numbers of the protocol buffer encoding guide: 150 is `96 01`, and field 1 of it is `08 96 01`.
    #[test]
    fn messages_are_encoded_as_protocol_buffers() {
        let message = Message::default().number(1, 150).bytes(2, b"testing");
        assert_eq!(message.0, [&[0x08, 0x96, 0x01, 0x12, 7][..], b"testing"].concat());
    }
}
