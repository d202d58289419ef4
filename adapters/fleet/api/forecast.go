package api

import "time"

// Forecast is when something that waits will probably start, by how long similar jobs ran. It
// promises nothing: what is promised is the expected start.
type Forecast struct {
	// At is when it was made. Zero: nothing was forecast of it. It is too new, or behind those of
	// which that is forecast, it waits for something else than room, or no jobs with a time
	// limit have ended yet.
	At time.Time `json:"at,omitzero"`
	// P50 and P90 are by when it starts in 50 and in 90 of 100 cases. Zero: it did not start in
	// so many of the simulations.
	P50 time.Time `json:"p50,omitzero"`
	P90 time.Time `json:"p90,omitzero"` // see P50
}

// Calibration is how often forecasts came true, since the server leads: of Starts that were forecast, ByP50
// were by their first P50, and ByP90 by their first P90.
type Calibration struct {
	Starts int `json:"starts"` // that were forecast
	ByP50  int `json:"byP50"`  // how many of them were by their first P50
	ByP90  int `json:"byP90"`  // how many of them were by their first P90
}
