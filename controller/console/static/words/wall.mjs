// Words of the wall: what the public may read, and no more.

export default {
  "wall.title": ["大屏", "Wall"],
  "wall.turn": ["翻页", "Pages"],
  "wall.back": ["上一页", "Page before"],
  "wall.next": ["下一页", "Next page"],
  "wall.pause": ["‖ 停止翻页", "‖ Stop turning"],
  "wall.go": ["▷ 自动翻页", "▷ Turn automatically"],
  "wall.page": ["第{page}页，共{pages}页 · {n}台", "Page {page} of {pages} · {n} {n|table|tables}"],
  "wall.level": ["打{level}", "lv {level}"],
  "wall-side.NS": ["南北", "NS"],
  "wall-side.EW": ["东西", "EW"],
  "wall.minutes": ["{m}分", "{m}′"],
  "wall.none": ["尚无对阵", "no match yet"],
  "wall.stopped": ["停表", "clocks stopped"],
  "wall.referee": ["裁判处理中", "with a referee"],
  "wall.waits": ["等待裁判", "waiting for a referee"],
  "wall.dark": ["数据未更新（自{time}）", "no update since {time}"],
};
