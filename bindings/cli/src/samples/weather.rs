//! `barewire serve weather`: alerts and forecasts in the shape that the quickstart of MCP made known, all made up.

use super::Sequence;

/// What every text says of itself.
const SAMPLE: &str = "SAMPLE DATA, NOT REAL WEATHER (made up by `barewire serve weather`)";

/// States and territories that have alerts.
const STATES: &str = "AL AK AZ AR CA CO CT DE DC FL GA GU HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ \
                      NM NY NC ND OH OK OR PA PR RI SC SD TN TX UT VT VA VI WA WV WI WY";

/// Texas always has this many alerts: a text of some 51 KB, to show a long line.
const MANY: usize = 47;

/// Active alerts for a state, or why there can't be any.
pub(crate) fn alerts(state: &str) -> Result<String, String> {
    let state = state.trim().to_ascii_uppercase();
    if !STATES.split_whitespace().any(|known| known == state) {
        return Err(format!("{state:?} is no US state: give its two letters, such as TX or CA"));
    }
    let mut sequence = Sequence::of(&state);
    let count = match state.as_str() {
        "TX" => MANY,
        "HI" => 0,
        _ => 1 + sequence.below(3),
    };
    if count == 0 {
        return Ok(format!("No active alerts for {state}. {SAMPLE}."));
    }
    let mut text = format!("{count} active alerts for {state}. {SAMPLE}.");
    for number in 1..=count {
        text.push_str(&alert(&state, number, &mut sequence));
    }
    Ok(text)
}

/// One alert: thirteen lines, the rule before it included.
fn alert(state: &str, number: usize, sequence: &mut Sequence) -> String {
    let event = sequence.pick(&[
        "Flash Flood Watch",
        "Severe Thunderstorm Warning",
        "Excessive Heat Warning",
        "High Wind Advisory",
        "Dense Fog Advisory",
        "Winter Storm Watch",
    ]);
    let severity = sequence.pick(&["Minor", "Moderate", "Severe", "Extreme"]);
    let side = sequence.pick(&["northern", "southern", "eastern", "western", "central"]);
    let first = county(sequence);
    let second = county(sequence);
    let third = county(sequence);
    let (from, until) = (1 + sequence.below(11), 1 + sequence.below(11));
    let (gusts, degrees) = (35 + sequence.below(45), 55 + sequence.below(55));
    let inches = 1 + sequence.below(6);
    format!(
        "\n---\n\
         Event: {event} (sample {number})\n\
         Area: {first}, {second} and {third} Counties; {side} {state}\n\
         Severity: {severity}\n\
         Urgency: Expected\n\
         Description: * WHAT...Gusts up to {gusts} mph and temperatures near {degrees}°F are made up for these \
         counties, with {inches} inches of rain where the sample says so.\n\
         * WHERE...{first} County first, then {second} County, and by evening the low crossings of {third} County; \
         streams and \"dry\" creek beds\\washes are included.\n\
         * WHEN...From {from} PM this afternoon to {until} AM tomorrow, local sample time; a later sample may extend \
         it.\n\
         * IMPACTS...Underpasses, low-water crossings and parked wagons could be affected. Loose garden furniture \
         will be blown about, and travel would be slow if any of this were real.\n\
         * ADDITIONAL DETAILS...This text exists so that a long result can be seen on the wire: all of it travels \
         in one line.\n\
         Instructions: Nothing needs to be done. In a real alert of this kind people would move to higher ground or \
         to an inner room, keep away from windows, and not drive through water.\n\
         Sender: barewire sample office, {side} {state}\n\
         Reference: sample-{state}-{number:03}"
    )
}

fn county(sequence: &mut Sequence) -> &'static str {
    sequence.pick(&[
        "Juniper",
        "Mesa",
        "Rio Seco",
        "Cottonwood",
        "Bluestem",
        "Pecan",
        "Sandhill",
        "Live Oak",
        "Prairie",
        "Caprock",
        "Saltgrass",
        "Willow",
        "Red Bank",
        "Thornton",
        "Cañada",
        "Bayou",
    ])
}

/// The forecast for a place, or what is wrong with its coordinates.
pub(crate) fn forecast(latitude: f64, longitude: f64) -> Result<String, String> {
    // A range that NaN is not in either.
    if !(-90.0..=90.0).contains(&latitude) {
        return Err(format!("latitude {latitude} is out of range: -90 to 90"));
    }
    if !(-180.0..=180.0).contains(&longitude) {
        return Err(format!("longitude {longitude} is out of range: -180 to 180"));
    }
    let mut sequence = Sequence::of(&format!("{latitude:.2} {longitude:.2}"));
    let mut text = format!("Forecast for {}. {SAMPLE}.", place(latitude, longitude));
    let base = 84.0 - latitude.abs() * 0.85;
    for period in ["Today", "Tonight", "Tomorrow", "Tomorrow night", "The day after"] {
        let night = if period.ends_with("ight") { 14.0 } else { 0.0 };
        let degrees = (base - night) as i64 + sequence.below(9) as i64 - 4;
        let sky = sequence.pick(&[
            "Clear",
            "Partly cloudy",
            "Cloudy",
            "Light rain",
            "Breezy and dry",
            "Patchy fog",
        ]);
        let wind = 3 + sequence.below(18);
        let from = sequence.pick(&["N", "NE", "E", "SE", "S", "SW", "W", "NW"]);
        text.push_str(&format!(
            "\n---\n{period}:\nTemperature: {degrees}°F\nWind: {wind} mph {from}\nForecast: {sky}, as far as a sample can tell."
        ));
    }
    Ok(text)
}

/// The nearest place that has a name here, or the coordinates.
fn place(latitude: f64, longitude: f64) -> String {
    const PLACES: &[(&str, f64, f64)] = &[
        ("New York", 40.7128, -74.006),
        ("San Francisco", 37.7749, -122.4194),
        ("Austin", 30.2672, -97.7431),
        ("Chicago", 41.8781, -87.6298),
        ("Seattle", 47.6062, -122.3321),
    ];
    let near =
        PLACES.iter().find(|(_, lat, lon)| (lat - latitude).abs() < 0.25 && (lon - longitude).abs() < 0.25);
    match near {
        Some((name, ..)) => format!("{name} ({latitude}, {longitude})"),
        None => format!("{latitude}, {longitude}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texas_fills_a_long_line() {
        let text = alerts("TX").unwrap();
        assert_eq!(text.lines().count(), 612);
        assert!((50_500..=52_500).contains(&text.len()), "{}", text.len());
        assert_eq!(text, alerts(" tx ").unwrap());
        assert!(text.contains("SAMPLE DATA, NOT REAL WEATHER"));
    }

    #[test]
    fn every_state_has_an_answer() {
        for state in STATES.split_whitespace() {
            assert!(alerts(state).unwrap().contains("SAMPLE DATA"), "{state}");
        }
        for bad in ["", "ZZ", "Texas", "T", "TX "] {
            assert_eq!(alerts(bad).is_ok(), bad == "TX ", "{bad:?}");
        }
    }

    #[test]
    fn any_place_on_earth_has_a_forecast() {
        assert!(forecast(40.7128, -74.006).unwrap().starts_with("Forecast for New York"));
        assert!(forecast(37.7749, -122.4194).unwrap().starts_with("Forecast for San Francisco"));
        assert!(forecast(-90.0, 180.0).unwrap().contains("SAMPLE DATA"));
        for (latitude, longitude) in [(90.1, 0.0), (0.0, -180.5), (f64::NAN, 0.0), (0.0, f64::INFINITY)] {
            assert!(forecast(latitude, longitude).is_err());
        }
    }
}
