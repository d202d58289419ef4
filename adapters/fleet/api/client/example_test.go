package client_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// Submit a job and ask why it waits.
func Example() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	c, err := client.New(client.Config{
		Servers: []string{"s1.example.com", "s2.example.com"},
		TLS:     &tls.Config{}, // with the fleet's authority in RootCAs
		Token:   "brt_...",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	spec := job.Spec{Name: "train", Command: []string{"python", "train.py"}}
	answer, err := c.Submit(ctx, api.SubmitRequest{Jobs: []job.Spec{spec}, Key: "train-2030-01-01"})
	if err != nil {
		fmt.Println(err) // an *api.Error names every field that is wrong
		return
	}
	why, err := c.Explain(ctx, answer.Jobs[0], 0)
	fmt.Println(why.State, why.Message, err)
}
