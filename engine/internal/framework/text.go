package framework

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/berth-project/berth/extpoints"
)

// What plugins, extenders and the orchestrator say is made valid UTF-8 where it comes in, since
// it is written down so: else an engine and its replay would go on from different texts.

// ValidText is the text with what is no UTF-8 replaced.
func ValidText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// ValidTexts are the texts, each valid. The list is the same one where all are.
func ValidTexts(list []string) []string {
	if !slices.ContainsFunc(list, invalid) {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i] = ValidText(list[i])
	}
	return list
}

// ValidError is the error, which can be read, with a valid text; nil stays nil.
func ValidError(err error) error {
	if err = extpoints.AsStatus(err).AsError(); err == nil {
		return nil
	}
	if text := err.Error(); invalid(text) {
		return &validError{err, ValidText(text)}
	}
	return err
}

// ValidStatus is the status with valid reasons.
func ValidStatus(st *extpoints.Status) *extpoints.Status {
	if st == nil || !invalid(st.Message()) {
		return st
	}
	if err := st.AsError(); st.Code() == extpoints.Error {
		return extpoints.AsStatus(ValidError(err)).WithPlugin(st.Plugin())
	}
	return extpoints.NewStatus(st.Code(), ValidTexts(st.Reasons())...).WithPlugin(st.Plugin())
}

func invalid(s string) bool { return !utf8.ValidString(s) }

// validError is an error whose own text is none.
type validError struct {
	error
	text string
}

func (e *validError) Error() string { return e.text }

func (e *validError) Unwrap() error { return e.error }
