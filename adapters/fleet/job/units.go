package job

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// MilliCPU is an amount of processor time, in thousandths of a core. It is
// written as cores, "2" or "0.5", or as thousandths, "500m".
type MilliCPU int64

// Bytes is an amount of memory or disk. It is written as a number of bytes or
// with a unit: K, M, G, T, P and E are powers of 1000, with or without a B after
// them; Ki, Mi, Gi, Ti, Pi and Ei powers of 1024. Small letters will
// do, but "8Gb" is refused: it would be bits.
type Bytes int64

// Duration is a time.Duration that is written as people write it in job files:
// see [ParseDuration].
type Duration time.Duration

// maxUnitText is the longest text that is read as an amount. What is longer is
// no amount, and shall cost nothing.
const maxUnitText = 64

// ParseMilliCPU reads "2", "0.5" or "500m". It fails where the amount is
// negative, too large, or finer than a thousandth.
func ParseMilliCPU(s string) (MilliCPU, error) {
	number, unit := splitNumber(s)
	var scale int64
	switch unit {
	case "":
		scale = 1000
	case "m":
		scale = 1
	default:
		return 0, fmt.Errorf(`%s is no amount of CPU: write cores, "2" or "0.5", or thousandths, "500m"`, quote(s))
	}
	n, err := scaled(number, scale)
	if err != nil {
		return 0, fmt.Errorf(`%s is no amount of CPU: %w; write cores, "2" or "0.5", or thousandths, "500m"`, quote(s), err)
	}
	return MilliCPU(n), nil
}

// String is the number of cores, as ParseMilliCPU reads it: "2", "0.5".
func (m MilliCPU) String() string {
	whole := strconv.FormatInt(int64(m)/1000, 10)
	part := int64(m) % 1000
	if part == 0 {
		return whole
	}
	if part < 0 {
		part = -part
		whole = "-" + strings.TrimPrefix(whole, "-")
	}
	return whole + "." + strings.TrimRight(fmt.Sprintf("%03d", part), "0")
}

// MarshalJSON writes a string.
func (m MilliCPU) MarshalJSON() ([]byte, error) { return marshalText(int64(m), m.String()) }

// UnmarshalJSON reads a string, or a number of cores.
func (m *MilliCPU) UnmarshalJSON(data []byte) error {
	return unmarshalText(data, func(s string, _ bool) (err error) {
		*m, err = ParseMilliCPU(s)
		return err
	})
}

// byteUnits are the units of Bytes, from the smallest.
var byteUnits = []struct {
	name string
	size int64
}{
	{"K", 1e3}, {"Ki", 1 << 10}, {"M", 1e6}, {"Mi", 1 << 20}, {"G", 1e9}, {"Gi", 1 << 30},
	{"T", 1e12}, {"Ti", 1 << 40}, {"P", 1e15}, {"Pi", 1 << 50}, {"E", 1e18}, {"Ei", 1 << 60},
}

// byteHint ends the errors of ParseBytes.
const byteHint = `write a number and its unit: "4G" is 4000000000 bytes, "4Gi" is 4294967296 ` +
	`(the units: B, K, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei; a B may follow)`

// ParseBytes reads "512Mi", "4GiB", "1.5G", "4GB" or "1048576". It fails where
// the amount is negative, too large, or no whole number of bytes.
func ParseBytes(s string) (Bytes, error) {
	number, unit := splitNumber(s)
	size, ok := byteUnit(unit)
	if !ok {
		return 0, fmt.Errorf("%s is no amount of bytes: %s", quote(s), byteHint)
	}
	n, err := scaled(number, size)
	if err != nil {
		return 0, fmt.Errorf("%s is no amount of bytes: %w; %s", quote(s), err, byteHint)
	}
	return Bytes(n), nil
}

func byteUnit(unit string) (size int64, ok bool) {
	if strings.HasSuffix(unit, "b") && unit != strings.ToLower(unit) {
		return 0, false // "Gb" is bits
	}
	unit = strings.ToUpper(unit)
	unit = strings.TrimSuffix(unit, "B")
	if unit == "" {
		return 1, true
	}
	for _, u := range byteUnits {
		if unit == strings.ToUpper(u.name) {
			return u.size, true
		}
	}
	return 0, false
}

// String is the exact amount, with the unit that makes the number shortest:
// "512Mi", "1500M". ParseBytes reads it.
func (b Bytes) String() string {
	best := strconv.FormatInt(int64(b), 10)
	if b == 0 {
		return best
	}
	least := int64(b)
	for _, u := range byteUnits {
		n := int64(b) / u.size
		if int64(b)%u.size == 0 && abs(n) <= abs(least) {
			least = n
			best = strconv.FormatInt(n, 10) + u.name
		}
	}
	return best
}

// MarshalJSON writes a string.
func (b Bytes) MarshalJSON() ([]byte, error) { return marshalText(int64(b), b.String()) }

// UnmarshalJSON reads a string, or a number of bytes.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	return unmarshalText(data, func(s string, _ bool) (err error) {
		*b, err = ParseBytes(s)
		return err
	})
}

// splitNumber cuts a text after its digits and points.
func splitNumber(s string) (number, unit string) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	return s[:i], s[i:]
}

// scaled is number times scale, where that is a whole number that is not too
// large. The number has digits and at most one point.
func scaled(number string, scale int64) (int64, error) {
	whole, fraction, point := strings.Cut(number, ".")
	switch {
	case len(number) > maxUnitText:
		return 0, fmt.Errorf("it is longer than %d characters", maxUnitText)
	case whole == "", point && fraction == "", strings.Contains(fraction, "."):
		return 0, fmt.Errorf("it does not begin with a number")
	}
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return 0, fmt.Errorf("it does not begin with a number")
	}
	n.Mul(n, big.NewInt(scale))
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(fraction))), nil)
	n, rest := n.QuoRem(n, unit, new(big.Int))
	switch {
	case rest.Sign() != 0:
		return 0, fmt.Errorf("it is no whole number of the smallest unit")
	case !n.IsInt64():
		return 0, fmt.Errorf("it is larger than %d of the smallest unit", int64(math.MaxInt64))
	}
	return n.Int64(), nil
}

// marshalText writes a text for an amount. A negative one could not be read again.
func marshalText(n int64, text string) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("%s is negative", text)
	}
	return json.Marshal(text)
}

// unmarshalText hands the text of a JSON string or number to parse, and whether
// it was a number. It leaves null alone, as encoding/json wants it.
func unmarshalText(data []byte, parse func(s string, number bool) error) error {
	switch {
	case string(data) == "null":
		return nil
	case len(data) > 0 && data[0] == '"':
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		return parse(s, false)
	case len(data) > 0 && (data[0] == '-' || data[0] >= '0' && data[0] <= '9'):
		return parse(string(data), true)
	}
	return fmt.Errorf("%s is neither a string nor a number", quote(string(data)))
}

// quote quotes outside text for a message, and cuts it where it is long.
func quote(s string) string {
	if len(s) > maxUnitText {
		return strconv.Quote(s[:maxUnitText]) + "..."
	}
	return strconv.Quote(s)
}

func abs(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
