// Words of every page: [Chinese, English]. The Chinese is a referee's, not a dictionary's.

export default {
  "seat.N": ["北", "North"],
  "seat.W": ["西", "West"],
  "seat.S": ["南", "South"],
  "seat.E": ["东", "East"],
  "side.NS": ["南北", "North–South"],
  "side.EW": ["东西", "East–West"],
  "card.BJ": ["大王", "big joker"],
  "card.SJ": ["小王", "small joker"],

  "role.observer": ["观摩", "observer"],
  "role.table": ["台显", "table display"],
  "role.referee": ["裁判员", "referee"],
  "role.chief": ["裁判长", "chief referee"],
  "role.technician": ["技术员", "technician"],

  "go.skip": ["跳到内容", "Skip to content"],
  "go.places": ["页面", "Pages"],
  "go.hall": ["全场", "Hall"],
  "go.chief": ["裁判长", "Chief"],
  "go.wall": ["大屏", "Wall"],
  "go.history": ["成绩", "Matches"],
  "go.draw": ["对阵", "Draw"],
  "go.setup": ["设置", "Set-up"],

  "shell.language": ["换成英文", "Change to Chinese"],
  "shell.out": ["退出", "Log out"],
  "shell.stale": [
    "与控制台失联：所示内容截至 {time}，之后未更新",
    "No word from the console: what is shown is as of {time}",
  ],
  "shell.connecting": [
    "正在重新连接控制台：所示内容截至 {time}，尚未更新",
    "Connecting to the console again: what is shown is as of {time}",
  ],
  "theme.auto": ["明暗：随系统", "Theme: as the system"],
  "theme.light": ["明暗：明", "Theme: light"],
  "theme.dark": ["明暗：暗", "Theme: dark"],
  "sound.on": ["声音：开", "Sound on"],
  "sound.off": ["声音：关", "Sound off"],
  "sound.asleep": ["声音：点按页面任意处后才会响", "Sound: press anywhere on the page first"],
  "sound.short-asleep": ["♪ 点按启用", "♪ press to hear"],
  "sound.short-on": ["♪ 开", "♪ on"],
  "sound.short-off": ["♪ 关", "♪ off"],
  "keys.title": ["快捷键", "Keys"],

  "dialog.yes": ["确定", "OK"],
  "dialog.no": ["取消", "Cancel"],
  "dialog.close": ["知道了", "Close"],

  "field.missing": ["请填写：{name}", "Please fill in: {name}"],
  "field.number": ["{name}：应为 {min} 至 {max} 的整数", "{name}: a whole number, {min} to {max}"],
  "field.more": ["{name}：至少 {min} 项", "{name}: at least {min}"],
  "field.json": ["{name}：格式不对", "{name}: this is not JSON"],
  "field.take-away": ["去掉 {card}", "Take {card} away"],

  "api.away": ["控制台没有应答", "The console does not answer"],
  "api.failed": ["控制台出错（{status}）", "The console failed ({status})"],

  "order.sending": ["发送中…", "sending…"],
  "order.accepted": ["本台已受理", "accepted by the table"],
  "order.seen": ["已执行 ✓", "done ✓"],
  "order.refused": ["本台未受理", "refused by the table"],
  "order.unknown": ["结果不明：可能已执行。", "Not known: it may have acted."],
  "order.unsent": ["未发出：", "Not sent:"],
  "order.other-run": [
    "本台此后已重新启动：此命令没有执行，也不会再执行。请先查看本台现状，仍需要时再下令。",
    "The table was started again since: this order has not acted and never will. Look at the table first, then order anew if it is still meant.",
  ],
  "order.anew": ["重新下令…", "Order anew…"],
  "order.again": ["再查询", "Ask again"],
  "order.then": ["；", ": "],

  "time.seconds": ["{s}秒", "{s} {s|second|seconds}"],
  "time.minutes": ["{m}分{s}秒", "{m} {m|minute|minutes} {s} {s|second|seconds}"],
};
