//! `barewire serve bmi`: two tools that a first tutorial would have.

use super::Sequence;

/// Weight in kilograms over the square of the height in metres.
pub(crate) fn calculate_bmi(weight_kg: f64, height_m: f64) -> Result<f64, String> {
    let bmi = weight_kg / (height_m * height_m);
    if height_m > 0.0 && weight_kg > 0.0 && bmi.is_finite() {
        Ok(bmi)
    } else {
        Err("体重和身高必须是正数（weight_kg and height_m must be positive numbers）".into())
    }
}

/// Made-up weather for a city.
pub(crate) fn fetch_weather(city: &str) -> Result<String, String> {
    let city = city.trim();
    if city.is_empty() {
        return Err("请给出城市名称（give the name of a city）".into());
    }
    let mut sequence = Sequence::of(city);
    let sky = sequence.pick(&["晴", "多云", "阴", "小雨", "阵雨", "有风"]);
    let degrees = 5 + sequence.below(26);
    let humidity = 35 + sequence.below(55);
    Ok(format!(
        "{city}：{sky}，{degrees}°C，湿度 {humidity}%（示例数据，并非真实天气；sample data, not real weather）"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_value() {
        assert_eq!(calculate_bmi(65.0, 1.65).unwrap().to_string(), "23.875114784205696");
        for (weight, height) in
            [(65.0, 0.0), (0.0, 1.0), (-1.0, 1.0), (65.0, -1.65), (1e308, 1e-10), (f64::NAN, 1.0)]
        {
            assert!(calculate_bmi(weight, height).is_err());
        }
    }

    #[test]
    fn weather_says_that_it_is_made_up() {
        let text = fetch_weather("北京").unwrap();
        assert!(text.starts_with("北京：") && text.contains("示例数据"));
        assert_eq!(text, fetch_weather(" 北京 ").unwrap());
        assert!(fetch_weather(" ").is_err());
    }
}
