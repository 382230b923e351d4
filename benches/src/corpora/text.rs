//! Prose, in English and in Chinese, and base64.

use super::random::Random;

const WORDS: &[&str] = &[
    "the",
    "of",
    "alert",
    "river",
    "station",
    "until",
    "wind",
    "from",
    "level",
    "heavy",
    "rain",
    "area",
    "north",
    "south",
    "expected",
    "record",
    "value",
    "update",
    "for",
    "and",
    "current",
    "reading",
    "service",
    "report",
    "coast",
    "valley",
    "warning",
    "minor",
    "forecast",
    "evening",
    "morning",
    "temperature",
    "pressure",
    "sensor",
    "is",
    "above",
    "below",
    "with",
    "near",
    "county",
    "road",
    "closed",
    "open",
    "water",
    "snow",
    "visibility",
];
const PHRASES: &[&str] = &[
    "今天",
    "天气",
    "预报",
    "北京",
    "上海",
    "气温",
    "下降",
    "大风",
    "警报",
    "河流",
    "水位",
    "上升",
    "请",
    "注意",
    "安全",
    "传感器",
    "读数",
    "正常",
    "数据",
    "更新",
    "工具",
    "查询",
    "返回",
    "结果",
    "列表",
    "参数",
    "名称",
    "描述",
    "地区",
    "湿度",
];
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// In which language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    English,
    Chinese,
}

/// Words, about `bytes` of them, without anything that JSON escapes.
pub(crate) fn words(random: &mut Random, language: Language, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        match language {
            Language::English => {
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(random.pick(WORDS));
            }
            Language::Chinese => {
                text.push_str(random.pick(PHRASES));
                if random.below(6) == 0 {
                    text.push('，');
                }
            }
        }
    }
    text
}

/// Exactly `bytes` bytes of lines as a report has them: one character that JSON escapes in about 60 bytes, in English.
pub(crate) fn report(random: &mut Random, language: Language, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 64);
    while text.len() < bytes {
        match language {
            Language::English => {
                let length = 30 + random.below(58);
                text.push_str(&words(random, language, length));
                text.push_str(random.pick(&["\n", "\n", "\n", " \"", "\" ", "\t", "\\"]));
            }
            Language::Chinese => {
                text.push_str(&words(random, language, 200));
                text.push_str("。\n");
            }
        }
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text.extend(core::iter::repeat_n('.', bytes - end));
    text
}

/// Exactly `bytes` characters of base64, as an image comes.
pub(crate) fn base64(random: &mut Random, bytes: usize) -> String {
    (0..bytes).map(|_| char::from(BASE64[random.below(64)])).collect()
}
