package trace

import (
	"encoding/json"
	"fmt"
	"math"
)

// Series is a value for each column. A cluster of few GPUs has columns at which
// no arrival stops; they show the mean of the steps in the two columns beside
// it, and where those are empty too, nothing: NaN here, null in JSON.
type Series [Columns]float64

// MarshalJSON writes an array of numbers, with null for NaN.
func (s Series) MarshalJSON() ([]byte, error) {
	var values [Columns]*float64
	for i := range s {
		if !math.IsNaN(s[i]) {
			values[i] = &s[i]
		}
	}
	return json.Marshal(values)
}

// UnmarshalJSON reads what MarshalJSON writes. An array of another length is an
// error.
func (s *Series) UnmarshalJSON(data []byte) error {
	var values []*float64
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	if len(values) != Columns {
		return fmt.Errorf("trace: a series has %d values, not %d", Columns, len(values))
	}
	for i, v := range values {
		s[i] = math.NaN()
		if v != nil {
			s[i] = *v
		}
	}
	return nil
}
