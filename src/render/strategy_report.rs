//! The report of `gate learn` as Markdown, and its plots as SVG.

use std::fmt::Write as _;

use crate::learn::strategies::Strategies;
use crate::learn::weights::Weights;
use crate::plural::counted;

/// The size of a plot, in pixels.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 240.0;
/// The margin around a plot, in pixels.
const MARGIN: f64 = 40.0;
/// The colours of series, which are told apart without red and green.
const COLOURS: [&str; 6] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#000000"];

/// A series of points of a plot.
pub struct PlotSeries {
    pub name: String,
    /// Its values, in order.
    pub values: Vec<f64>,
}

/// Returns the report about the newest weights.
pub fn markdown(strategies: &Strategies, history: &[Weights]) -> String {
    let mut text = "# Strategies\n".to_owned();
    let Some(newest) = history.last() else {
        text.push_str("\nNot enough data: no update was made yet.\n");
        return text;
    };
    let _ = writeln!(
        text,
        "\n{}, after {}. gate proposes; a person decides.\n",
        newest.at.strftime("%Y-%m-%d"),
        counted(newest.sessions, "session")
    );
    text.push_str("| strategy | value | weight | with | without | difference | interval | result |\n");
    text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (name, one) in &newest.weights {
        let value = strategies.0.get(name).map_or_else(|| "gone".to_owned(), |strategy| strategy.value.to_string());
        let difference = one.difference.map_or_else(|| "—".to_owned(), |difference| format!("{difference:+.3}"));
        let interval = one.interval.map_or_else(|| "—".to_owned(), |(low, high)| format!("{low:+.3} … {high:+.3}"));
        let (weight, with, without, says) = (one.weight, one.with, one.without, &one.says);
        let _ = writeln!(
            text,
            "| {name} | {value} | {weight:.3} | {with} | {without} | {difference} | {interval} | {says} |"
        );
    }
    let proposals: Vec<String> = newest
        .weights
        .iter()
        .filter_map(|(name, one)| Some(format!("- `[strategies.{name}]`: `{}`", one.proposal.as_ref()?)))
        .collect();
    text.push_str("\n## Proposals\n\n");
    text.push_str(&if proposals.is_empty() { "None.".to_owned() } else { proposals.join("\n") });
    text.push_str("\n\n![weights](weights.svg)\n![rewards](rewards.svg)\n");
    text
}

/// Returns the weights over the history, one series for each strategy.
pub fn weight_series(history: &[Weights]) -> Vec<PlotSeries> {
    let Some(newest) = history.last() else { return Vec::new() };
    let of = |name: &String| {
        let values = history.iter().filter_map(|one| one.weights.get(name)).map(|one| one.weight).collect();
        PlotSeries { name: name.clone(), values }
    };
    newest.weights.keys().map(of).collect()
}

/// Returns a plot of some series.
pub fn svg(title: &str, series: &[PlotSeries]) -> String {
    let all = || series.iter().flat_map(|one| one.values.iter().copied());
    let (low, high) = all().fold((0.0_f64, 1.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let last = series.iter().map(|one| one.values.len()).max().unwrap_or(0).saturating_sub(1).max(1);
    let number = crate::learn::interval::number;
    let x = |at: usize| MARGIN + (WIDTH - 2.0 * MARGIN) * number(at) / number(last);
    let y = |value: f64| HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * (value - low) / (high - low);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<title>{0}</title>\n<text x=\"{MARGIN}\" y=\"20\">{0}</text>\n",
        escaped(title)
    );
    for value in [low, high] {
        let _ = writeln!(
            text,
            "<text x=\"4\" y=\"{0:.1}\">{value:.2}</text><line x1=\"{MARGIN}\" x2=\"{1}\" y1=\"{0:.1}\" y2=\"{0:.1}\" \
             stroke=\"#ccc\"/>",
            y(value),
            WIDTH - MARGIN
        );
    }
    for (place, one) in series.iter().enumerate() {
        let colour = COLOURS[place % COLOURS.len()];
        let points: Vec<String> =
            one.values.iter().enumerate().map(|(at, value)| format!("{:.1},{:.1}", x(at), y(*value))).collect();
        let _ = writeln!(text, "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/>", points.join(" "));
        let row = HEIGHT - 24.0 + 12.0 * number(place / 5);
        let column = MARGIN + 115.0 * number(place % 5);
        let _ = writeln!(text, "<text x=\"{column}\" y=\"{row}\" fill=\"{colour}\">{}</text>", escaped(&one.name));
    }
    text.push_str("</svg>\n");
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_is_well_formed_and_stays_inside_its_frame() {
        let series = [
            PlotSeries { name: "a<b>&\"c\"".to_owned(), values: vec![0.5, 0.55, -0.2, 3.0] },
            PlotSeries { name: "empty".to_owned(), values: Vec::new() },
        ];
        let plot = svg("rewards", &series);
        assert!(plot.starts_with("<svg ") && plot.ends_with("</svg>\n"));
        assert!(plot.contains("a&lt;b&gt;&amp;&quot;c&quot;"));
        let points = plot.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        for point in points.split(' ') {
            let (x, y) = point.split_once(',').unwrap();
            assert!(
                (0.0..=WIDTH).contains(&x.parse().unwrap()) && (0.0..=HEIGHT).contains(&y.parse().unwrap()),
                "{point}"
            );
        }
    }
}
