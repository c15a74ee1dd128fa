//! Tokens and costs of a conversation.

use serde_json::{Value, json};

use crate::llm::{Model, Usage};

/// What a conversation has used so far: the value of `usage` of a conversation, and `metrics` of `usage_metrics`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Metrics {
    tokens: Usage,
    /// `None` once the price of a call is unknown.
    cost: Option<f64>,
    currency: Option<String>,
}

impl Metrics {
    /// Reads stored metrics; null are those of a new conversation.
    pub(super) fn read(stored: &Value) -> Self {
        let mut tokens = Usage::default();
        let count = |name: &str| stored["accumulated_token_usage"][name].as_u64().unwrap_or_default();
        tokens.input = count("prompt_tokens");
        tokens.cached_input = count("cache_read_tokens");
        tokens.output = count("completion_tokens");
        tokens.reasoning = count("reasoning_tokens");
        let cost = if stored.is_null() { Some(0.0) } else { stored["accumulated_cost"].as_f64() };
        Self { tokens, cost, currency: stored["currency"].as_str().map(ToOwned::to_owned) }
    }

    /// Adds a call of a model. `None`: the endpoint did not report its tokens.
    pub(super) fn add(&mut self, model: &Model, usage: Option<Usage>) {
        if let Some(usage) = usage {
            self.tokens += usage;
        }
        let price = model.price.as_ref();
        // Amounts of two currencies cannot be added.
        let is_same = |currency: &str| self.currency.as_deref().is_none_or(|before| before == currency);
        self.cost = match (self.cost, price, usage) {
            (Some(cost), Some(price), Some(usage)) if is_same(&price.currency) => Some(cost + price.cost(&usage)),
            _ => None,
        };
        self.currency = price.map(|price| price.currency.clone()).or_else(|| self.currency.take());
    }

    /// What all calls have cost; 0 if that is not known.
    pub(super) fn cost(&self) -> f64 {
        self.cost.unwrap_or_default()
    }

    /// As stored and shown. `last`: the tokens of the last call.
    pub(super) fn to_value(&self, model: &Model, last: Option<Usage>) -> Value {
        let Usage { input, cached_input, output, reasoning, .. } = self.tokens;
        json!({
            "model_name": model.model,
            "accumulated_cost": self.cost,
            "currency": self.currency,
            "accumulated_token_usage": {
                "model": model.model,
                "prompt_tokens": input,
                "completion_tokens": output,
                "cache_read_tokens": cached_input,
                "reasoning_tokens": reasoning,
                "context_window": model.context_window.unwrap_or_default(),
                "per_turn_token": last.map(|last| last.input + last.output),
            },
        })
    }
}

/// The body of `usage_metrics`.
pub(super) fn usage_metrics(model: &Model, metrics: &Value) -> Value {
    json!({ "context_window": model.context_window.unwrap_or_default(), "metrics": metrics })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Price;

    fn tokens(input: u64, output: u64) -> Option<Usage> {
        let mut usage = Usage::default();
        (usage.input, usage.output) = (input, output);
        Some(usage)
    }

    #[test]
    fn tokens_and_costs_add_up_and_survive_being_stored() {
        let model = Model::new("m", "http://h/v1").price(Price::new(1.0, 2.0, "EUR"));
        let mut metrics = Metrics::read(&Value::Null);
        metrics.add(&model, tokens(1_000_000, 500_000));
        let stored = metrics.to_value(&model, tokens(1_000_000, 500_000));
        let mut metrics = Metrics::read(&stored);
        metrics.add(&model, tokens(500_000, 0));
        let value = metrics.to_value(&model, tokens(500_000, 0));
        assert_eq!((&value["accumulated_cost"], &value["currency"]), (&json!(2.5), &json!("EUR")));
        assert_eq!(value["accumulated_token_usage"]["prompt_tokens"], 1_500_000);
        assert_eq!(value["accumulated_token_usage"]["per_turn_token"], 500_000);
        assert_eq!(usage_metrics(&model, &value)["context_window"], 0);
    }

    #[test]
    fn an_unknown_cost_stays_unknown() {
        let (free, priced) =
            (Model::new("m", "http://h/v1"), Model::new("m", "http://h/v1").price(Price::new(1.0, 2.0, "EUR")));
        let mut metrics = Metrics::read(&Value::Null);
        metrics.add(&free, tokens(10, 10));
        let mut metrics = Metrics::read(&metrics.to_value(&free, None));
        metrics.add(&priced, tokens(10, 10));
        assert_eq!(metrics.to_value(&priced, None)["accumulated_cost"], Value::Null);
        let mut metrics = Metrics::read(&Value::Null);
        metrics.add(&priced, None);
        assert_eq!(metrics.to_value(&priced, None)["accumulated_cost"], Value::Null);
    }
}
