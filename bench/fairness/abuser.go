package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An abuser is the process of the organisation that exceeds its quota. It gets only the
// processor time that the server leaves, so that its own work does not delay the server.
type abuser struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

func startAbuser(ctx context.Context, o options, base, apiToken string) (*abuser, error) {
	c, err := login(ctx, base, apiToken)
	if err != nil {
		return nil, err
	}
	a := &abuser{cmd: exec.CommandContext(ctx, "chrt", "--idle", "0", os.Args[0], "-base", base, "-abuser")}
	a.cmd.Env = append(os.Environ(), "FAIRNESS_TOKEN="+c.token)
	a.cmd.Stderr = os.Stderr
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.lines = bufio.NewScanner(out)
	return a, a.cmd.Start()
}

// tell sends a command and waits for the answer.
func (a *abuser) tell(command string) error {
	if _, err := fmt.Fprintln(a.stdin, command); err != nil {
		return err
	}
	if !a.lines.Scan() {
		return fmt.Errorf("the process of the abuser ended: %w", cmp.Or(a.lines.Err(), io.EOF))
	}
	return nil
}

// report prints the answers that the abuser got.
func (a *abuser) report() error {
	if err := a.tell("report"); err != nil {
		return err
	}
	fmt.Println("answers to the abuser:", a.lines.Text())
	return nil
}

func (a *abuser) end() {
	_ = a.stdin.Close()
	_ = a.cmd.Wait() // it ends with its input
}

// beAbuser obeys the commands on standard input: "send" and a rate starts sending requests,
// "rest" stops it. It answers these and all other commands, such as "report", with the
// number of responses by status.
func beAbuser(ctx context.Context, o options) error {
	c := newClient(o.base, o.token)
	var mu sync.Mutex
	statuses := map[int]int{}
	stop := func() {}
	for commands := bufio.NewScanner(os.Stdin); commands.Scan(); {
		command, number, _ := strings.Cut(commands.Text(), " ")
		switch command {
		case "send":
			rate, err := strconv.ParseFloat(number, 64)
			if err != nil {
				return err
			}
			sending, cancel := context.WithCancel(ctx)
			var all sync.WaitGroup
			all.Go(func() {
				c.flood(sending, rate, func(status int) {
					mu.Lock()
					defer mu.Unlock()
					statuses[status]++
				})
			})
			stop = func() { cancel(); all.Wait() }
		case "rest":
			stop()
		}
		mu.Lock()
		text, err := json.Marshal(statuses)
		mu.Unlock()
		if err != nil {
			return err
		}
		fmt.Println(string(text))
	}
	stop()
	return nil
}

// flood sends requests at a rate until ctx ends. At most 2,000 are under way, so that the
// rate falls if the server does not answer.
func (c *client) flood(ctx context.Context, perSecond float64, count func(status int)) {
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, 2000)
	for i, begin := 0, time.Now(); ctx.Err() == nil; i++ {
		time.Sleep(time.Until(begin.Add(time.Duration(float64(i) / perSecond * float64(time.Second)))))
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		running.Go(func() {
			defer func() { <-slots }()
			status, err := c.post(ctx, nth(i))
			if err != nil {
				if ctx.Err() != nil {
					return
				}
				status = 0 // no answer
			}
			count(status)
		})
	}
}
