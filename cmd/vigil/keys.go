package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	desktop "vigil/internal/desktop/store"
	"vigil/internal/instance"
	"vigil/internal/posture/app"
	posture "vigil/internal/posture/store"
)

type keysCmd struct {
	RotateSigning keysRotateSigningCmd `cmd:"" help:"Create a new signing key for access tokens. Existing tokens stay valid."`
	RotateSecrets keysRotateSecretsCmd `cmd:"" help:"Create a new key for stored secrets and re-encrypt all of them, or continue if the last time was interrupted."`
	Rewrap        keysRewrapCmd        `cmd:"" help:"Encrypt the keys for stored secrets with another master key."`
}

type keysRotateSigningCmd struct {
	settingsFlags
}

// Run implements the command.
func (c *keysRotateSigningCmd) Run(e *environment) error {
	return c.operate(e, "keys.rotate-signing", func(in *operation) error {
		keys, err := app.Keys(in.ctx, in.Installation, time.Now)
		if err != nil {
			return err
		}
		if err := keys.Rotate(in.ctx); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout, "a new signing key is published; it is used once every server has read it")
		return nil
	})
}

type keysRotateSecretsCmd struct {
	settingsFlags
	// By default, secret.MaxAge, in which other processes still encrypt with the earlier key, and
	// a minute, the limit of the transactions that store what they encrypted.
	Wait time.Duration `default:"2m" help:"Time between creating the key and re-encrypting, in which servers begin to use it. 0s is enough if none is running."`
}

// Run implements the command.
func (c *keysRotateSecretsCmd) Run(e *environment) error {
	return c.operate(e, "keys.rotate-secrets", func(in *operation) error {
		if err := errors.Join(posture.Migrate(e.ctx, in.DB), desktop.Migrate(e.ctx, in.DB)); err != nil {
			return err
		}
		at, added, err := in.Box.BeginRotation(in.ctx, in.Keyring)
		if err != nil {
			return err
		}
		created := at.UTC().Format(time.DateTime) + " UTC"
		if !added {
			fmt.Fprintf(e.stdout, "continuing with the key of %s, because not everything was encrypted with it; no new key is created\n", created)
		}
		if c.Wait > 0 {
			fmt.Fprintf(e.stdout, "waiting %s until every server uses the key of %s; if interrupted, run the command again to continue\n", c.Wait, created)
		}
		select {
		case <-time.After(c.Wait):
		case <-e.ctx.Done():
			return fmt.Errorf("%w; run the command again to continue", e.ctx.Err())
		}
		columns := in.SealedColumns()
		for _, column := range slices.Concat(posture.SealedColumns(in.DB), desktop.SealedColumns(in.DB)) {
			columns = append(columns, column)
		}
		total := 0
		// A run that continues another one changes nothing before this: its first change commits the audit record.
		err = in.Box.ResealAll(in.ctx, in.Keyring, func(_ string, n int) { total += n }, columns...)
		if err != nil {
			return fmt.Errorf("%w; run the command again to continue", err)
		}
		fmt.Fprintf(e.stdout, "%d secrets are encrypted with the new key, created at %s\n", total, created)
		return nil
	})
}

type keysRewrapCmd struct {
	settingsFlags
	From string `required:"" placeholder:"KEY" help:"The previous master key, in the format of the setting master_key, which has the new one."`
}

// Run implements the command.
func (c *keysRewrapCmd) Run(e *environment) error {
	conf, err := c.effective()
	if err != nil {
		return err
	}
	in, err := instance.OpenForRewrap(e.ctx, conf, c.From, time.Now)
	if err != nil {
		return err
	}
	return errors.Join(recorded(e.ctx, in, "keys.rewrap", func(o *operation) error {
		if err := o.Box.Rewrap(o.ctx); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout, "the keys for stored secrets are encrypted with the new master key")
		return nil
	}), in.Close())
}
