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
	RotateSecrets keysRotateSecretsCmd `cmd:"" help:"Create a new key for stored secrets and re-encrypt all of them."`
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
}

// Run implements the command.
func (c *keysRotateSecretsCmd) Run(e *environment) error {
	return c.operate(e, "keys.rotate-secrets", func(in *operation) error {
		if err := errors.Join(posture.Migrate(e.ctx, in.DB), desktop.Migrate(e.ctx, in.DB)); err != nil {
			return err
		}
		if err := in.Box.Rotate(in.ctx); err != nil {
			return err
		}
		columns := in.SealedColumns()
		for _, column := range slices.Concat(posture.SealedColumns(in.DB), desktop.SealedColumns(in.DB)) {
			columns = append(columns, column)
		}
		total := 0
		err := in.Box.ResealAll(e.ctx, in.Keyring, func(_ string, n int) { total += n }, columns...)
		if err != nil {
			return fmt.Errorf("%w; run the command again to continue", err)
		}
		fmt.Fprintf(e.stdout, "%d secrets are encrypted with the new key\n", total)
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
	if err := instance.Rewrap(e.ctx, conf, c.From, time.Now); err != nil {
		return err
	}
	return c.operate(e, "keys.rewrap", func(*operation) error { return nil })
}
