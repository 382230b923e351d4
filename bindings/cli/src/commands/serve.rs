//! `barewire serve weather|bmi`: sample servers for any host, or for pasting lines by hand.

use std::io::{self, Write};
use std::sync::Once;

use barewire::{BadArgs, Fields, FromArgs, ServerConfig, Tool, check_tools};
use barewire_stdio::{Fail, Serve, ToolCall, ToolResult};

use crate::failure::Failure;
use crate::samples::{bmi, weather};

/// Which sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Sample {
    /// get_alerts and get_forecast
    Weather,
    /// calculate_bmi and fetch_weather, described in Chinese
    Bmi,
}

static WEATHER_TOOLS: &[Tool<'static>] = &[
    Tool::new(
        "get_alerts",
        "Weather alerts for a US state. Sample data, not real weather.",
        r#"{"type":"object","properties":{"state":{"type":"string","description":"Two-letter US state code (e.g. CA, NY)"}},"required":["state"]}"#,
    )
    .title("Weather alerts")
    .read_only(),
    Tool::new(
        "get_forecast",
        "Weather forecast for a place. Sample data, not real weather.",
        r#"{"type":"object","properties":{"latitude":{"type":"number","description":"Latitude of the place, -90 to 90"},"longitude":{"type":"number","description":"Longitude of the place, -180 to 180"}},"required":["latitude","longitude"]}"#,
    )
    .title("Weather forecast")
    .read_only(),
];
const _: () = check_tools(WEATHER_TOOLS);

static WEATHER: ServerConfig<'static> =
    ServerConfig::new("weather", env!("CARGO_PKG_VERSION")).tools(WEATHER_TOOLS);

static BMI_TOOLS: &[Tool<'static>] = &[
    Tool::new(
        "calculate_bmi",
        "根据体重（千克）和身高（米）计算身体质量指数（BMI）。",
        r#"{"type":"object","properties":{"weight_kg":{"type":"number","description":"体重，单位千克"},"height_m":{"type":"number","description":"身高，单位米"}},"required":["weight_kg","height_m"]}"#,
    )
    .read_only(),
    Tool::new(
        "fetch_weather",
        "获取城市的当前天气（示例数据，并非真实天气）。",
        r#"{"type":"object","properties":{"city":{"type":"string","description":"城市名称"}},"required":["city"]}"#,
    )
    .read_only(),
];
const _: () = check_tools(BMI_TOOLS);

static BMI: ServerConfig<'static> = ServerConfig::new("Demo", env!("CARGO_PKG_VERSION")).tools(BMI_TOOLS);

/// Serves until the input ends.
pub(crate) fn run(sample: Sample) -> Result<(), Failure> {
    let served = match sample {
        Sample::Weather => Serve::new(&WEATHER).run(weather_tool),
        Sample::Bmi => Serve::new(&BMI).run(bmi_tool),
    };
    served.map_err(|error| Failure::io("can't serve on standard input and output", &error))
}

fn weather_tool(call: &mut ToolCall<'_>) -> Result<ToolResult, Fail> {
    static ONCE: Once = Once::new();
    // Whoever reads stderr sees that servers may write there, and what this one serves.
    ONCE.call_once(|| _ = writeln!(io::stderr(), "sample data, not real weather"));
    Ok(match call.name() {
        "get_alerts" => {
            let Alerts { state } = call.decode()?;
            weather::alerts(state)?.into()
        }
        "get_forecast" => {
            let Forecast { latitude, longitude } = call.decode()?;
            weather::forecast(latitude, longitude)?.into()
        }
        _ => return Err(Fail::Unknown),
    })
}

fn bmi_tool(call: &mut ToolCall<'_>) -> Result<ToolResult, Fail> {
    Ok(match call.name() {
        "calculate_bmi" => {
            let Body { weight_kg, height_m } = call.decode()?;
            bmi::calculate_bmi(weight_kg, height_m)?.to_string().into()
        }
        "fetch_weather" => {
            let City { city } = call.decode()?;
            bmi::fetch_weather(city)?.into()
        }
        _ => return Err(Fail::Unknown),
    })
}

struct Alerts<'m> {
    state: &'m str,
}

impl<'m> FromArgs<'m> for Alerts<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut state = None;
        while let Some((key, value)) = fields.next() {
            if key == "state" {
                state = Some(value.str("state")?);
            }
        }
        Ok(Self { state: state.ok_or(BadArgs::new("state", "a string"))? })
    }
}

struct Forecast {
    latitude: f64,
    longitude: f64,
}

impl<'m> FromArgs<'m> for Forecast {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let [latitude, longitude] = numbers(&mut fields, ["latitude", "longitude"])?;
        Ok(Self { latitude, longitude })
    }
}

struct Body {
    weight_kg: f64,
    height_m: f64,
}

impl<'m> FromArgs<'m> for Body {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let [weight_kg, height_m] = numbers(&mut fields, ["weight_kg", "height_m"])?;
        Ok(Self { weight_kg, height_m })
    }
}

struct City<'m> {
    city: &'m str,
}

impl<'m> FromArgs<'m> for City<'m> {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut city = None;
        while let Some((key, value)) = fields.next() {
            if key == "city" {
                city = Some(value.str("city")?);
            }
        }
        Ok(Self { city: city.ok_or(BadArgs::new("city", "a string"))? })
    }
}

/// Two numbers, both required.
fn numbers(fields: &mut Fields<'_>, names: [&'static str; 2]) -> Result<[f64; 2], BadArgs> {
    let mut found = [None; 2];
    while let Some((key, value)) = fields.next() {
        if let Some(at) = names.iter().position(|name| *name == key) {
            found[at] = Some(value.f64(names[at])?);
        }
    }
    let get = |at: usize| found[at].ok_or(BadArgs::new(names[at], "a number"));
    Ok([get(0)?, get(1)?])
}
