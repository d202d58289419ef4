package faults

import (
	"io"
	"reflect"

	"github.com/berth-project/berth/extpoints"
)

// Surroundings call a function wherever an engine calls what is not a plugin of a cycle. It is told
// which point that is, and may do anything there.
type Surroundings func(point string)

// Listen sets each function of the listener, a pointer to a struct of functions: the point is
// "Listener." and the field's name.
func (at Surroundings) Listen(listener any) {
	functions := reflect.ValueOf(listener).Elem()
	for i := range functions.NumField() {
		point := "Listener." + functions.Type().Field(i).Name
		functions.Field(i).Set(reflect.MakeFunc(functions.Field(i).Type(), func([]reflect.Value) []reflect.Value {
			at(point)
			return nil
		}))
	}
}

// Sort has the plugin of the profile with the name, which sorts the queue and does nothing else, go on
// as it does, behind the point "Less".
func (at Surroundings) Sort(p *extpoints.Profile, name string) {
	for i, entry := range p.Plugins {
		if entry.Name != name {
			continue
		}
		p.Plugins[i].New = func(args any, h extpoints.Handle) (extpoints.Plugin, error) {
			made, err := entry.New(args, h)
			return sorting{made.(extpoints.QueueSortPlugin), at}, err
		}
	}
}

type sorting struct {
	extpoints.QueueSortPlugin
	at Surroundings
}

// Less implements [extpoints.QueueSortPlugin].
func (p sorting) Less(a, b *extpoints.Queued) bool {
	p.at("Less")
	return p.QueueSortPlugin.Less(a, b)
}

// Writer writes to what it is given, behind the point and before another one: "P, when it has written".
func (at Surroundings) Writer(point string, to io.Writer) io.Writer { return writer{point, to, at} }

type writer struct {
	point string
	to    io.Writer
	at    Surroundings
}

// Write implements [io.Writer].
func (w writer) Write(line []byte) (int, error) {
	w.at(w.point)
	n, err := w.to.Write(line)
	w.at(w.point + ", when it has written")
	return n, err
}
