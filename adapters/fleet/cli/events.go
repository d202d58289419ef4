package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
)

func eventsCommand(a *app) *cobra.Command {
	var f client.EventFilter
	of := ""
	c := &cobra.Command{
		Use:   "events",
		Short: "Show past events, and with -f new ones as they happen",
		Long:  "Show past events, and with -f new ones as they happen. With -o json each event is a line.",
		Args:  command.Args(0, 0),
	}
	c.Flags().BoolVarP(&f.Follow, "follow", "f", false, "go on as things happen")
	c.Flags().StringVar(&of, "job", "", "only those of this `job`, or with 17_3 of an element")
	c.Flags().StringVar(&f.Node, "node", "", "only those of this `node`")
	c.Flags().StringVar(&f.After, "after", "", "only those after the event with this `ID`")
	filled(c, "job", "node", "after")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
		f, t := f, one{}
		if of != "" {
			var err error
			if t, err = parseElement(of); err != nil {
				return err
			}
			f.Job = t.job
		}
		return servers.Events(c.Context(), f, func(e api.Event) error {
			if t.element != nil && (e.Element == nil || *e.Element != *t.element) && e.Kind != api.EventMissed {
				return nil
			}
			return a.writeEvent(c.OutOrStdout(), &e)
		})
	})
	return c
}

// writeEvent prints one event.
func (a *app) writeEvent(w io.Writer, e *api.Event) error {
	switch a.format {
	case "":
		_, err := fmt.Fprintln(w, visible(a.eventLine(e)))
		return err
	case "name":
		_, err := fmt.Fprintln(w, visible(e.ID))
		return err
	case "yaml":
		if _, err := fmt.Fprintln(w, "---"); err != nil {
			return err
		}
		return writeYAML(w, e)
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, escapeHidden(string(data)))
	return err
}

// eventLine is an event in one line.
func (a *app) eventLine(e *api.Event) string {
	parts := []string{a.stamp(e.At), fmt.Sprintf("%-9s", e.Kind)}
	if e.Job != 0 {
		id := "job " + e.Job.String()
		if e.Element != nil {
			id += fmt.Sprintf("_%d", *e.Element)
		}
		if e.Attempt > 0 {
			id += fmt.Sprintf(" attempt %d", e.Attempt)
		}
		parts = append(parts, id)
	}
	if e.Node != "" {
		parts = append(parts, "node "+e.Node)
	}
	for _, s := range []string{string(e.State), e.Message} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if e.By != "" {
		parts = append(parts, "by "+e.By)
	}
	return strings.Join(parts, "  ")
}
