package model

// Prices are what models charge for their tokens. nil = nothing is known.
type Prices struct {
	Currency string           // in which all prices are, such as USD
	Models   map[string]Price // by the name that a request has
}

// Price is the price of a million tokens that a model reads, and of a million that it writes.
type Price struct{ Input, Output float64 }

// tokensOfPrice is how many tokens a Price is for.
const tokensOfPrice = 1e6

// of returns the usage of a call with its cost, if the price of the model is known.
func (p *Prices) of(model string, used Usage) Usage {
	if p == nil || used.PromptTokens+used.CompletionTokens == 0 {
		return used
	}
	if price, known := p.Models[model]; known {
		used.Cost = (price.Input*float64(used.PromptTokens) + price.Output*float64(used.CompletionTokens)) / tokensOfPrice
		used.Currency = p.Currency
	}
	return used
}

// add adds what another call used. All calls of a process have the same currency.
func (u *Usage) add(o Usage) {
	u.PromptTokens += o.PromptTokens
	u.CompletionTokens += o.CompletionTokens
	u.Cost += o.Cost
	u.Currency = max(u.Currency, o.Currency)
}
