/** Parts of a text between separators. */
type Split<Text extends string, By extends string> = Text extends
  `${infer Part}${By}${infer Rest}` ? Part | Split<Rest, By> : Text;

/** Words of a text of several lines. */
type WordsOf<Text extends string> = Split<Split<Text, "\n">, " ">;

/** Games of which Gymnasium also has environments of v0 and v4. */
type LegacyGame = WordsOf<
  `Adventure AirRaid Alien Amidar Assault Asterix Asteroids Atlantis BankHeist
BattleZone BeamRider Berzerk Bowling Boxing Breakout Carnival Centipede
ChopperCommand CrazyClimber Defender DemonAttack DoubleDunk ElevatorAction
Enduro FishingDerby Freeway Frostbite Gopher Gravitar Hero IceHockey
Jamesbond JourneyEscape Kangaroo Krull KungFuMaster MontezumaRevenge
MsPacman NameThisGame Phoenix Pitfall Pong Pooyan PrivateEye Qbert Riverraid
RoadRunner Robotank Seaquest Skiing Solaris SpaceInvaders StarGunner Tennis
TimePilot Tutankham UpNDown Venture VideoPinball WizardOfWor YarsRevenge
Zaxxon`
>;

type OtherGame = WordsOf<
  `Atlantis2 Backgammon BasicMath Blackjack Casino Crossbow Darkchambers
DonkeyKong Earthworld Entombed Et FlagCapture Frogger Galaxian Hangman
HauntedHouse HumanCannonball Kaboom KeystoneKapers KingKong Klax Koolaid
LaserGates LostLuggage MarioBros MiniatureGolf MrDo Othello Pacman Pitfall2
SirLancelot SpaceWar Superman Surround Tetris TicTacToe3D Trondead Turmoil
VideoCheckers VideoChess VideoCube WordZapper`
>;

/** Id of an environment of the Arcade Learning Environment. */
export type AtariId =
  | `ALE/${LegacyGame | OtherGame}-v5`
  | `${LegacyGame}${"" | "NoFrameskip"}-v${0 | 4}`;
