package cli

import (
	"github.com/spf13/cobra"

	"github.com/loomrun/loom/readverb"
)

func newProfile(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "profile [flags]",
		Short: "Say who you are",
		Long: `Print what the page ` + readverb.ProfilePath + ` of the file cabinet says of you: name and bio of its front matter, else its
first heading and its text.

Exit status 1: there is no such page. Whom the records belong to is printed in its place.`,
		Args: cobra.NoArgs,
	}
	c.Flags().Bool("fresh", false, "what is known now; the same, as nothing else is kept")
	return s.reads(c, []string{"profile"}, func(s shown) error {
		me := s.payload.(*readverb.Myself)
		if err := s.facts([2]string{"name", me.Name}, [2]string{"identity", me.Identity}, [2]string{"bio", oneLine(me.Bio)}); err != nil {
			return err
		}
		if !me.HasProfile {
			s.say("there is no page " + readverb.ProfilePath + " in the file cabinet")
		}
		return nil
	})
}
