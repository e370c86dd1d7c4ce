/** Game of which Gymnasium also has environments of v0 and v4. */
// deno-fmt-ignore -- a column of names
export type LegacyAtariGame =
  | "Adventure" | "AirRaid" | "Alien" | "Amidar" | "Assault" | "Asterix"
  | "Asteroids" | "Atlantis" | "BankHeist" | "BattleZone" | "BeamRider"
  | "Berzerk" | "Bowling" | "Boxing" | "Breakout" | "Carnival" | "Centipede"
  | "ChopperCommand" | "CrazyClimber" | "Defender" | "DemonAttack"
  | "DoubleDunk" | "ElevatorAction" | "Enduro" | "FishingDerby" | "Freeway"
  | "Frostbite" | "Gopher" | "Gravitar" | "Hero" | "IceHockey" | "Jamesbond"
  | "JourneyEscape" | "Kangaroo" | "Krull" | "KungFuMaster"
  | "MontezumaRevenge" | "MsPacman" | "NameThisGame" | "Phoenix" | "Pitfall"
  | "Pong" | "Pooyan" | "PrivateEye" | "Qbert" | "Riverraid" | "RoadRunner"
  | "Robotank" | "Seaquest" | "Skiing" | "Solaris" | "SpaceInvaders"
  | "StarGunner" | "Tennis" | "TimePilot" | "Tutankham" | "UpNDown" | "Venture"
  | "VideoPinball" | "WizardOfWor" | "YarsRevenge" | "Zaxxon";

/** Id of an environment of the Arcade Learning Environment. */
// deno-fmt-ignore -- a column of names
export type AtariId =
  | `${LegacyAtariGame}${"" | "NoFrameskip"}-v${0 | 4}`
  | `ALE/${
    | LegacyAtariGame
    | "Atlantis2" | "Backgammon" | "BasicMath" | "Blackjack" | "Casino"
    | "Crossbow" | "Darkchambers" | "DonkeyKong" | "Earthworld" | "Entombed"
    | "Et" | "FlagCapture" | "Frogger" | "Galaxian" | "Hangman"
    | "HauntedHouse" | "HumanCannonball" | "Kaboom" | "KeystoneKapers"
    | "KingKong" | "Klax" | "Koolaid" | "LaserGates" | "LostLuggage"
    | "MarioBros" | "MiniatureGolf" | "MrDo" | "Othello" | "Pacman"
    | "Pitfall2" | "SirLancelot" | "SpaceWar" | "Superman" | "Surround"
    | "Tetris" | "TicTacToe3D" | "Trondead" | "Turmoil" | "VideoCheckers"
    | "VideoChess" | "VideoCube" | "WordZapper"
  }-v5`;
